// The protocol as the other packages see it. Pure; any thread.

export {
  ProtocolError,
  parseClientMessage,
  parseServerMessage,
  serialize,
} from "./codec.ts";
export * from "./limits.ts";
export * from "./messages.ts";
