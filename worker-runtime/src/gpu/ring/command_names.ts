// What commands are called in messages, and how short each may be. Data for the thread that drains the ring.

import type { CommandName } from "./executor.ts";
import { Opcode } from "./layout.ts";

const OPCODE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(Opcode).map(([name, number]) => [number, name]),
);

/** Fewest words of each command, the first one counted. */
export const LEAST_WORDS: ReadonlyMap<number, number> = new Map([
  [Opcode.pad, 1],
  [Opcode.createBuffer, 5],
  [Opcode.destroyBuffer, 2],
  [Opcode.upload, 5],
  [Opcode.uploadInline, 4],
  [Opcode.copy, 6],
  [Opcode.fill, 5],
  [Opcode.createPipeline, 9],
  [Opcode.destroyPipeline, 2],
  [Opcode.dispatch, 7],
  [Opcode.read, 5],
  [Opcode.fence, 2],
  [Opcode.timestampBegin, 1],
  [Opcode.timestampEnd, 2],
  [Opcode.label, 3],
  [Opcode.trace, 3],
]);

/** The beginning of a message: "dispatch (softmax): ". The issuer knows what operation a tag is. */
export function nameOf(command: CommandName): string {
  const name = OPCODE_NAMES.get(command.opcode) ?? `opcode ${command.opcode}`;
  const label = command.label === "" ? "" : ` (${command.label})`;
  return `${name}${label}: `;
}
