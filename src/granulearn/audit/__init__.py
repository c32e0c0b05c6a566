"""Audits: which labels or numbers of a table are probably wrong, and why."""

from granulearn.audit.label_audit import LabelAudit, audit_labels
from granulearn.audit.validation import out_of_sample_proba

__all__ = ["LabelAudit", "audit_labels", "out_of_sample_proba"]
