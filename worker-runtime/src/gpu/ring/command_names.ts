// The commands' names in error messages, and each command's minimum length. Data for the thread that takes commands
// from the ring.

import type { CommandName } from "./executor.ts";
import { Opcode } from "./layout.ts";

const OPCODE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(Opcode).map(([name, number]) => [number, name]),
);

/** The shortest length that each command can have, in words, including its first word. */
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

/** Returns the beginning of an error message, such as "dispatch (softmax): ". */
export function nameOf(command: CommandName): string {
  const name = OPCODE_NAMES.get(command.opcode) ?? `opcode ${command.opcode}`;
  const label = command.label === "" ? "" : ` (${command.label})`;
  return `${name}${label}: `;
}
