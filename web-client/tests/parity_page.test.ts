// Tests array-core's parity page, made from small reports: it fits narrow and wide screens, has no accessibility
// violation, and its filter works by the keyboard. array-core/tests/parity/test_page.py tests its numbers.

import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { launch } from "./support/browser.ts";
import { open, problemsAtEachWidth } from "./support/checks.ts";

const TOUCH_PX = 44;
const PACKAGE = fileURLToPath(new URL("../../array-core/tests/parity", import.meta.url));

interface Case {
  group: string;
  operation: string;
  operands: string[];
  layout: string;
  form: string;
  ran: string;
  error_ulp: number | null;
  failure: string;
}

function cases(ran: string): Case[] {
  const dtypes = ["float32", "float64", "complex64", "int8", "uint64"];
  const layouts = ["contiguous", "strided", "negative", "transposed", "box"];
  const operations = ["add", "subtract", "multiply", "floor_divide", "logaddexp2", "sin"];
  return operations.flatMap((operation) =>
    dtypes.flatMap((dtype) =>
      layouts.map((layout, at) => ({
        group: operation === "sin" ? "special" : "ufunc",
        operation,
        operands: operation === "sin" ? [dtype] : [dtype, dtype],
        layout,
        form: "call",
        ran: dtype === "float64" && ran === "node_webgpu" ? "cpu" : ran,
        error_ulp: operation === "sin" ? at + 0.5 : 0,
        failure: "",
      })),
    ),
  );
}

function report(backend: string, device: string): object {
  const all = cases(backend);
  if (device !== "cpu") {
    all[0] = { ...(all[0] as Case), error_ulp: null, failure: "element 0 is 1, NumPy 2" };
  }
  return {
    backend,
    device,
    platform: "emscripten",
    numpy: "2.4.3",
    short: device !== "cpu",
    when: "2026-11-21 15:00 UTC",
    figures: {
      parity_cases: all.length,
      parity_failures: all.filter((each) => each.failure !== "").length,
      parity_gpu_share: 1,
      parity_seconds: 12.5,
    },
    cases: all,
  };
}

let folder: string;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let errors: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parity-page-"));
  const reports = [report("native_cpu", "cpu"), report("node_webgpu", "google swiftshader")];
  const files = reports.map((_, at) => join(folder, `${at}.json`));
  await Promise.all(reports.map((each, at) => writeFile(files[at] ?? "", JSON.stringify(each))));
  execFileSync("python3", ["-m", "parity.page", ...files, "--out", folder], { cwd: PACKAGE });
  browser = await launch();
  context = await browser.newContext();
  ({ page, errors } = await open(context));
});

afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  errors.length = 0;
  await page.goto(pathToFileURL(join(folder, "index.html")).href);
});

const rows = (): Promise<string[]> => page.locator("#rows tr").allInnerTexts();

it("fits every width and is accessible", async () => {
  expect(await problemsAtEachWidth(page, TOUCH_PX)).toEqual([]);
  expect(await page.locator("#backends").innerText()).toContain("150 cases, 1 failed");
  expect(await page.locator("#failures").innerText()).toContain("element 0 is 1, NumPy 2");
  expect(errors).toEqual([]);
});

it("is filtered by words, by group and by what went otherwise", async () => {
  expect(await rows()).toHaveLength(150);
  await page.keyboard.press("Tab");
  await page.keyboard.type("FLOAT32 add box");
  expect(await page.locator("#count").innerText()).toBe("2 of 150 rows");
  expect((await rows())[0]).toMatch(
    /add\s+ufunc\s+float32, float32\s+box\s+0 ulp\s+1 CPU\s+0 ulp\s+1 GPU/,
  );
  await page.locator("#filter").fill("");
  await page.locator("#group").selectOption("special");
  expect(await rows()).toHaveLength(25);
  await page.locator("#show").selectOption("helped");
  expect(await rows()).toHaveLength(5);
  await page.locator("#order").selectOption("error");
  expect((await rows())[0]).toMatch(/sin\s+special\s+float64\s+box\s+4.5 ulp/);
  await page.locator("#group").selectOption("");
  await page.locator("#show").selectOption("failed");
  expect(await rows()).toHaveLength(1);
});

it("keeps its head in sight and scrolls by the keyboard", async () => {
  await page.setViewportSize({ width: 320, height: 700 });
  const frame = page.locator(".frame");
  await frame.focus();
  await page.keyboard.press("End");
  await expect.poll(() => frame.evaluate((element) => element.scrollTop)).toBeGreaterThan(100);
  const [top, head] = await frame.evaluate((element) => {
    const cell = element.querySelector("th");
    return [element.getBoundingClientRect().top, cell?.getBoundingClientRect().top ?? 0];
  });
  expect(Math.abs((top ?? 0) - (head ?? 0))).toBeLessThan(3);
});
