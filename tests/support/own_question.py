from temporalio import workflow

from perdure import AnswerSpec, AnswerType, PersonQuestion
from perdure.temporal import ask_person


@workflow.defn
class Deploy:
    @workflow.run
    async def run(self, user: str, version: str) -> str:
        question = PersonQuestion(
            user_id=user,
            text=f"Deploy {version} to production?",
            answer=AnswerSpec(type=AnswerType.YES_NO),
            within="2d",
            otherwise=False,
        )
        decided = await ask_person(question)
        return f"deployed, as {decided.by} says" if decided.value else "left as it is"
