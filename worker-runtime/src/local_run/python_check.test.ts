// Tests the self-test's bundle, and the value that its program must return. The browser tests run its Python.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectedValues } from "./python_check.ts";
import { storedZip } from "./stored_zip.ts";

test("Python reads the archive, checksums too.", async () => {
  const folder = await mkdtemp(join(tmpdir(), "hyperflock-zip-"));
  try {
    const path = join(folder, "a.zip");
    writeFileSync(path, storedZip("self_test.py", "value = 'é'\n"));
    const program =
      "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; " +
      "print([(i.filename, i.file_size) for i in z.infolist()], z.read('self_test.py').decode())";
    const said = execFileSync("python3", ["-X", "utf8", "-c", program, path], { encoding: "utf8" });
    expect(said).toContain("[('self_test.py', 13)] value = 'é'");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("What NumPy has to give is exact in float32.", () => {
  const [sum = 0, trace = 0, most] = expectedValues();
  expect(sum).toBe(7_959_736);
  expect(sum).toBeLessThan(2 ** 24);
  expect(trace).toBeLessThan(sum);
  expect(most).toBe(6);
});
