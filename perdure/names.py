"""All names that Perdure uses in Temporal, in one place."""

from enum import StrEnum


class Workflow(StrEnum):
    """Workflow types."""

    RESUMABLE_AGENT = "ResumableAgent"
    INGEST_MEMORY = "IngestMemory"
    FORGET_MEMORY = "ForgetMemory"
    UNDO_FORGETTING = "UndoForgetting"
    RECALL_MEMORY = "RecallMemory"
    REMEMBER_ITEMS = "RememberItems"
    KEEP_CLAIMS = "KeepClaims"
    FLUSH_ACCESSES = "FlushAccesses"
    REDATE_MEMORY = "RedateMemory"
    RECONCILE_MEMORY = "ReconcileMemory"
    ERASE_MEMORY = "EraseMemory"
    UPDATE_MEMORY = "UpdateMemory"
    SET_CONSENT = "SetConsent"
    SET_MEMBER = "SetMember"
    HOLD_MEMORY = "HoldMemory"
    ASK_PERSON = "AskPerson"
    CREDIT_MEMORIES = "CreditMemories"
    CHECK_TASK = "CheckTask"
    JUDGE_TASK = "JudgeTask"
    SET_LESSON = "SetLesson"
    PROMOTE_EPISODES = "PromoteEpisodes"
    CONSOLIDATE_MEMORY = "ConsolidateMemory"
    DELIVER_NOTICE = "DeliverNotice"


class Activity(StrEnum):
    """Activity types, without those of tools, which are the tools' own names."""

    PREPARE_TASK = "prepare_task"
    CHECK_TASK = "check_task"
    KEEP_CLAIMS = "keep_claims"
    BEGIN_COMPENSATING = "begin_compensating"
    EVALUATE_TASK = "evaluate_task"
    ANNOUNCE = "announce"
    NOTIFY = "notify"
    DELIVER_NOTICE = "deliver_notice"
    QUICK_STEP = "quick_step"
    DECIDE_STEP = "decide_step"
    EXPAND = "expand"
    REASON = "reason"
    COMPRESS = "compress"
    PROMPT_STEP = "prompt_step"
    RECALL_STEP = "recall_step"
    REMEMBER_STEP = "remember_step"
    CORRECT = "correct"
    LET_STEP = "let_step"
    WAIT_STEP = "wait_step"
    EXPECT_EVENT = "expect_event"
    TAKE_EVENT = "take_event"
    ENTER_SKILL = "enter_skill"
    LEAVE_SKILL = "leave_skill"
    BEGIN_CALL = "begin_call"
    END_CALL = "end_call"
    AWAIT_WORKFLOW = "await_workflow"
    RECALL_MEMORY = "recall_memory"
    RECALL_HANDLE = "recall_handle"
    REMEMBER = "remember"
    READ_SESSION = "read_session"
    ADD_TO_SESSION = "add_to_session"
    REMOVE_FROM_SESSION = "remove_from_session"
    SUBMIT_INGEST = "submit_ingest"
    WAIT_INGEST = "wait_ingest"
    PLAN_INGEST = "plan_ingest"
    APPLY_INGEST = "apply_ingest"
    HOLD_DOUBTFUL = "hold_doubtful"
    CONFIRM_INGEST = "confirm_ingest"
    CHECK_HOLD = "check_hold"
    APPROVE_HELD = "approve_held"
    REJECT_HELD = "reject_held"
    ASKED_TENANT = "asked_tenant"
    BEGIN_SWEEP = "begin_sweep"
    DUE_TENANTS = "due_tenants"
    SELECT_FORGETTING = "select_forgetting"
    TOMBSTONE = "tombstone"
    PURGE = "purge"
    FINISH_FORGETTING = "finish_forgetting"
    FLUSH_ACCESSES = "flush_accesses"
    REDATE_TENANTS = "redate_tenants"
    FIND_UNDO = "find_undo"
    RESTORE = "restore"
    BEGIN_RECONCILING = "begin_reconciling"
    RECONCILE_TENANTS = "reconcile_tenants"
    END_RECONCILING = "end_reconciling"
    BEGIN_ERASURE = "begin_erasure"
    DELETE_SCHEDULES = "delete_schedules"
    END_RUNS = "end_runs"
    COUNT_STORED = "count_stored"
    ERASE_STORES = "erase_stores"
    DELETE_RUNS = "delete_runs"
    DELETE_LATE_RUNS = "delete_late_runs"
    PROVE_ERASURE = "prove_erasure"
    UPDATE_MEMORY = "update_memory"
    SET_CONSENT = "set_consent"
    SET_MEMBER = "set_member"
    CREDIT_MEMORIES = "credit_memories"
    JUDGE_TASK = "judge_task"
    NOTE_FEEDBACK = "note_feedback"
    RECALL_LESSONS = "recall_lessons"
    SET_LESSON = "set_lesson"
    DUE_SESSIONS = "due_sessions"
    PROMOTE_SESSIONS = "promote_sessions"
    CHANGED_TENANTS = "changed_tenants"
    FIND_DUPLICATES = "find_duplicates"
    MERGE_DUPLICATES = "merge_duplicates"
    END_CONSOLIDATION = "end_consolidation"


RESERVED_TOOLS = frozenset({*(one.value for one in Activity), "recall", "note"})
"""Names that no tool may have: our own activity types, kinds of steps, and the tools of a model's memory."""

ANSWER = "answer"
"""The update that answers a question: of a task, of a memory on hold, or of somebody's own workflow."""

DELIVER = "deliver"
"""The update that delivers an event to a task."""

PAUSE = "pause"
"""The update that has a task pause."""

RESUME = "resume"
"""The update that has a paused task go on."""

MESSAGE = "message"
"""The update that tells the model of a task with a goal something."""

REDIRECT = "redirect"
"""The update that gives a task with a goal another one, or further constraints."""

FEEDBACK = "feedback"
"""The update by which a person says whether a task, or a step of it, did what it should."""

SAY = "say"
"""The update that says something in a conversation, and returns the reply."""

END = "end"
"""The update that ends a conversation."""

CHAT = "chat"
"""The query that returns what was said in a conversation."""

PROGRESS = "progress"
"""The query that returns where a task is."""

QUESTIONS = "questions"
"""The query that returns the questions that a task, a memory on hold or somebody's own workflow waits on."""

RESULT = "result"
"""The query that returns how a task ended, also one that was cancelled."""

AGAIN = "again"
"""The memo of a task's workflow that was to be started again although the task had completed."""

SENDING = "sending"
"""The memo of a task's workflow that says by which sending of a request it was begun, if that may be sent again."""

STARTED_BY = "startedBy"
"""The memo of a task's workflow that says who started it: an ``Actor``."""

BINDING = "binding"
"""The memo of a task's workflow that holds what the task's id stands for."""

COMPENSATED = "compensated"
"""The memo of a task's workflow that has begun to undo the task's effects."""

HANDLED = "handled"
"""The memo of a conversation's workflow that holds the ids of messages that the ones before it have answered, and once
it has ended, of those that it has answered as well: the next one is started with it."""

TASK = "task"
"""The memo of a task's workflow that holds the task's id; its own id may be any."""

SESSION = "session"
"""The memo of a task's workflow that holds the session which it writes into; empty: it writes into none."""

MEMORY = "memory"
"""The query that returns what a task has recalled and handed to memory."""

CONVERSATION = "conversation"
"""The query that returns the turns of a task's model, for a later run of the task."""

STEPS = "steps"
"""The query that returns what steps of a task's skill left, for a run that begins behind them."""

REPORT = "report"
"""The query that returns what a sweep did so far."""

STAGE = "stage"
"""The query that returns where a job is."""

TASK_QUEUE = "perdure"
"""The task queue of Perdure's workers, unless their settings name another one."""

DEFAULT_POLICY = "default"
"""The write policy of requests that name none."""

EXACT_POLICY = "exact"
"""The write policy of records that are kept exactly as they are given."""


class ScheduleId(StrEnum):
    """The schedules that a worker makes."""

    FORGETTING = "perdure-forgetting"
    ACCESSES = "perdure-accesses"
    """Writes down what was recalled."""
    PROMOTION = "perdure-promotion"
    CONSOLIDATION = "perdure-consolidation"
    REDATING = "perdure-redating"
    """Dates anew what was dated by other rules."""
    RECONCILIATION = "perdure-reconciling"


class Attribute(StrEnum):
    """Search attributes, all keywords; a server has to have them registered."""

    TENANT = "PerdureTenant"
    AGENT = "PerdureAgent"
    SKILL = "PerdureSkill"
    PHASE = "PerdurePhase"
