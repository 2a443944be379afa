// The worker's name and version, which the agent sends to servers. Any thread.

export const AGENT_NAME = "hyperflock-worker/0.2.0";
