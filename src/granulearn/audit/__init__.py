"""Label audit: which labels of a table are probably wrong, and why."""

from granulearn.audit.label_audit import LabelAudit, audit_labels
from granulearn.audit.noise_estimate import estimate_noise

__all__ = ["LabelAudit", "audit_labels", "estimate_noise"]
