// Reads the cases that a runner's command line chooses: FOLDER [--every N] [NAME]. Node.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { crc32 } from "node:zlib";

/**
 * Returns the chosen cases, a function that returns the bytes of a blob, and NAME. With --every N, about one case in N is
 * chosen, always the same ones. Ends the program if the command line is wrong; `runner` is the program's name.
 */
export function chosenCases(runner) {
  const { values, positionals } = parseArgs({
    options: { every: { type: "string", default: "1" } },
    allowPositionals: true,
  });
  const [folder, only] = positionals;
  const every = Number(values.every);
  if (!folder || !(every >= 1)) {
    console.error(`usage: node ${runner} FOLDER [--every N] [NAME]`);
    process.exit(2);
  }
  const data = readFileSync(join(folder, "data.bin"));
  const slice = ({ at, size }) => Uint8Array.prototype.slice.call(data, at, at + size);
  const all = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8"));
  const cases = all.filter((one) =>
    only ? one.name.startsWith(only) : crc32(one.name) % every === 0,
  );
  return { cases, slice, only };
}
