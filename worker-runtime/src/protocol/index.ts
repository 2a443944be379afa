// The exports of the protocol for other packages. Pure; any thread.

export {
  ProtocolError,
  parseClientMessage,
  parseServerMessage,
  serialize,
} from "./codec.ts";
export * from "./limits.ts";
export * from "./messages.ts";
