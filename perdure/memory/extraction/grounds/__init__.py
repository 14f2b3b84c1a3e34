"""Why a sentence is not believed: a module for each ground, over its words (``parser.words_of``). Pure."""
