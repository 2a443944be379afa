// The worker's name and version, which servers are told. Any thread.

export const AGENT_NAME = "hyperflock-worker/0.2.0";
