"""Audits: which labels or numbers of a table are probably wrong, and why."""

from granulearn.audit.label_audit import LabelAudit, audit_labels

__all__ = ["LabelAudit", "audit_labels"]
