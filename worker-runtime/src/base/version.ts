// The worker's name and version, as servers are told them. Any thread.

export const AGENT_NAME = "hyperflock-worker/0.2.0";
