"""Why a sentence is not believed: a module for each ground, over its words (``reading.words_of``). Pure."""
