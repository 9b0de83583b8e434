"""The client of grantd, a multi-tenant authorization service.

    client = Grantd("https://grantd.example", key)
    allowed = client.check("user:ada", "viewer", "document:plan")

A check is True only if the service has said so in an answer of exactly the promised shape. Every failure is a
GrantdError, and no error means "not authorized".
"""

from ._async_client import AsyncGrantd
from ._client import Grantd
from ._core import Call, Hook, Outcome
from ._errors import GrantdError
from ._operations import Expiry, Question
from ._results import UNSET, ChangeEvent, CreatedNamespace, Page, Rules
from ._types import (
    BulkWriteResult,
    Change,
    CheckResult,
    ConditionDict,
    CreatedKey,
    Decision,
    EvaluationRequestDict,
    FoundAction,
    FoundEntity,
    Grant,
    GrantRequestDict,
    Key,
    Namespace,
    QuestionDict,
    RuleSet,
    RuleSetRequestDict,
    RulesPreview,
    TupleDict,
    WrittenGrant,
)

__version__ = "0.2.0"

__all__ = [
    "UNSET",
    "AsyncGrantd",
    "BulkWriteResult",
    "Call",
    "Change",
    "ChangeEvent",
    "CheckResult",
    "ConditionDict",
    "CreatedKey",
    "CreatedNamespace",
    "Decision",
    "EvaluationRequestDict",
    "Expiry",
    "FoundAction",
    "FoundEntity",
    "Grant",
    "GrantRequestDict",
    "Grantd",
    "GrantdError",
    "Hook",
    "Key",
    "Namespace",
    "Outcome",
    "Page",
    "Question",
    "QuestionDict",
    "RuleSet",
    "RuleSetRequestDict",
    "Rules",
    "RulesPreview",
    "TupleDict",
    "WrittenGrant",
]
