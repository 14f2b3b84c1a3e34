from agents import Agent, Runner
from temporalio import workflow
from temporalio.client import Client
from temporalio.openai_agents import OpenAIAgentsPlugin
from temporalio.worker import Worker

from perdure.temporal import AgentSession, Plugin


@workflow.defn
class Concierge:
    @workflow.run
    async def run(self, user: str, conversation: str, said: str) -> str:
        agent = Agent(name="Concierge", instructions="Help the guest.", model="gpt-5-mini")
        session = AgentSession(conversation, user)
        return str((await Runner.run(agent, said, session=session)).final_output)


async def serve(address: str) -> None:
    client = await Client.connect(address, plugins=[OpenAIAgentsPlugin(), Plugin()])
    await Worker(client, task_queue="concierge", workflows=[Concierge]).run()
