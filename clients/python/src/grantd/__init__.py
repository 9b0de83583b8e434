"""The client of grantd, a multi-tenant authorization service.

    client = Grantd()  # GRANTD_URL and GRANTD_KEY of the environment
    allowed = client.check("user:ada", "viewer", "document:plan")

A check is True only if the service has said so in an answer of exactly the promised shape. Every failure is a
GrantdError, and no error means "not authorized".
"""

from ._async_client import AsyncGrantd
from ._client import Grantd
from ._core import Call, Hook, Outcome
from ._errors import (
    Conflict,
    ConnectionLost,
    CursorTooOld,
    Forbidden,
    GrantdError,
    InvalidRequest,
    InvalidResponse,
    MirrorError,
    NotFound,
    OutcomeUnknown,
    RateLimited,
    ServerError,
    Timeout,
    Unauthorized,
    Unavailable,
)
from ._filter import Filter
from ._operations import Expiry, Question
from ._results import UNSET, ChangeEvent, CreatedNamespace, Page, Rules, RulesText
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
    SubjectSets,
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
    "Conflict",
    "ConnectionLost",
    "CreatedKey",
    "CreatedNamespace",
    "CursorTooOld",
    "Decision",
    "EvaluationRequestDict",
    "Expiry",
    "Filter",
    "Forbidden",
    "FoundAction",
    "FoundEntity",
    "Grant",
    "GrantRequestDict",
    "Grantd",
    "GrantdError",
    "Hook",
    "InvalidRequest",
    "InvalidResponse",
    "Key",
    "MirrorError",
    "Namespace",
    "NotFound",
    "Outcome",
    "OutcomeUnknown",
    "Page",
    "Question",
    "QuestionDict",
    "RateLimited",
    "RuleSet",
    "RuleSetRequestDict",
    "Rules",
    "RulesPreview",
    "RulesText",
    "ServerError",
    "SubjectSets",
    "Timeout",
    "TupleDict",
    "Unauthorized",
    "Unavailable",
    "WrittenGrant",
]
