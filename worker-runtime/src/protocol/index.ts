// The protocol as the other packages see it. Pure; any thread.

export * from "./client_messages.ts";
export {
  kFrameBytes,
  ProtocolError,
  parseClientMessage,
  parseServerMessage,
  serialize,
} from "./codec.ts";
export * from "./server_messages.ts";
