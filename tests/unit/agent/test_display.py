"""What a person reads in the Temporal UI."""

from perdure.agent.display import details
from perdure.questions import Approval, Question, QuestionKind, choice_of
from perdure.tasks import Phase, Progress, RecallSummary


def test_details_say_where_it_is_what_it_waits_for_and_what_it_recalled() -> None:
    question = Question(id="a[1].b", kind=QuestionKind.APPROVAL, text="Go on?", answer=choice_of(Approval))
    progress = Progress(
        task_id="t",
        skill="audit",
        phase=Phase.WAITING,
        step="a[1].b",
        done=3,
        total=9,
        failed=1,
        recalled=4,
        questions=(question,),
    )
    recall = RecallSummary(
        step="known",
        ids=("exec_1", "exec_2", "exec_3", "exec_4"),
        scores=(1, 0.9, 0.8, 0.7),
        why="4 exact",
        degraded=False,
        milliseconds=12.3,
    )
    text = details(progress, [recall], "task-t-1")
    for part in (
        "**waiting** · skill `audit` · 3 of 9 steps",
        "0 skipped, 1 failed",
        "Go on? (yes | no)",
        "`perdure answer task-t-1 'a[1].b' VALUE`",
        '{"question_id":"a[1].b","value":"yes","by":""}',
        "- `known`: 4 exact in 12 ms: `exec_1` 1.00, `exec_2` 0.90, `exec_3` 0.80 and 1 more",
    ):
        assert part in text
