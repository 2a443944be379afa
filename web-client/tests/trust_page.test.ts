// Tests the page of `hyperflock up --share` and of the compose file's profile `lan`, which explains how a phone trusts a
// machine's certificate, as the package serves it. It fits a narrow phone and a desktop, has no accessibility violation in light and dark mode, and speaks
// English and Japanese. python/tests/local/test_authority.py tests what else is served.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch } from "./support/browser.ts";
import { open, overflow, smallTargets, violations } from "./support/checks.ts";

const TOUCH_PX = 44;
const PACKAGE = fileURLToPath(new URL("../../python/src", import.meta.url));
// This Python code serves the page until its input ends. It prints the page's address and the certificate's
// fingerprint.
const SERVE = `
import sys, tempfile
from pathlib import Path
from hyperflock._local.authority import Authority
from hyperflock._local.trust_page import TrustPage, page_html
from hyperflock._local.trust_service import qr_svg
with tempfile.TemporaryDirectory() as folder:
    authority = Authority(Path(folder))
    authority.certificate(["192.168.1.20", "127.0.0.1"], ["laptop.local", "localhost"])
    root, fingerprint = authority.root, authority.fingerprint()
    wide = page_html(fingerprint, is_narrow=False, qr=qr_svg("http://flock.example.org/trust"))
    with TrustPage("127.0.0.1", 0, root, fingerprint) as page:
        with TrustPage("127.0.0.1", 0, root, fingerprint, wide) as lan:
            print(page.url, lan.url, fingerprint, flush=True)
            sys.stdin.read()
`;

let serving: ChildProcess;
let browser: Browser;
let url: string;
let lan: string;
let fingerprint: string;

beforeAll(async () => {
  const env = { ...process.env, PYTHONPATH: PACKAGE };
  const child = spawn("python3", ["-c", SERVE], { env, stdio: ["pipe", "pipe", "inherit"] });
  serving = child;
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  [url = "", lan = "", fingerprint = ""] = line.split(" ");
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  serving?.stdin?.end();
});

describe.each([320, 1280])("at %i px", (width) => {
  it.each([
    ["own", "light"],
    ["own", "dark"],
    ["lan", "light"],
    ["lan", "dark"],
  ] as const)("the page of %s fits and is accessible in %s mode", async (which, colorScheme) => {
    const viewport = { width, height: 640 };
    const context = await browser.newContext({ viewport, colorScheme });
    const { page, errors } = await open(context);
    await page.goto(which === "own" ? url : lan);
    expect(await page.locator(".qr svg").count()).toBe(which === "own" ? 0 : 2);
    // axe runs through the browser's debugger, because the page's policy allows no script from a server.
    await page.evaluate(axe.source);
    expect(await violations(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    expect(await smallTargets(page, TOUCH_PX)).toEqual([]);
    expect(errors).toEqual([]);
    await context.close();
  });
});

describe.each([
  { language: "en", name: "English", words: ["Profile Downloaded", "Install anyway"] },
  { language: "ja", name: "日本語", words: ["プロファイルがダウンロード済み", "証明書信頼設定"] },
])("in $name", ({ language, name, words }) => {
  it("is reached by the keyboard, shows the fingerprint and gives the certificate", async () => {
    const context = await browser.newContext({ viewport: { width: 320, height: 640 } });
    const { page, errors } = await open(context);
    await page.goto(url);
    await page.getByRole("link", { name }).focus();
    await page.keyboard.press("Enter");
    const part = page.locator(`section[lang=${language}]`);
    await expect.poll(async () => (await part.boundingBox())?.y ?? 999).toBeLessThan(200);
    const text = await part.innerText();
    for (const each of words) expect(text).toContain(each);
    const groups = await part.locator(".print span").allInnerTexts();
    expect(groups.join(":")).toBe(fingerprint);
    const download = page.waitForEvent("download");
    await part.locator("a.button").click();
    expect((await download).suggestedFilename()).toBe("hyperflock-ca.crt");
    expect(errors).toEqual([]);
    await context.close();
  });
});
