"""Audits: which labels or numbers of a table are probably wrong, and why."""

from granulearn.audit.label_audit import LabelAudit, audit_labels
from granulearn.audit.value_audit import audit_values

__all__ = ["LabelAudit", "audit_labels", "audit_values"]
