package protocol

// UNLOCK_BATCH_MQ (42): give locks of LOCK_BATCH_MQ back. The body is a LockBatchBody, the answer is empty, and Java sends
// it one-way.
