// Tests the built join page, with the headers that the server sets: its requests before the tap, the join code, its
// size, and the layout of its files.

import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { en } from "../src/i18n/en.ts";
import { STORY_CODE } from "../src/stories/states.ts";
import { launch } from "./support/browser.ts";
import { GOOD_CODE, type StaticServer, serve } from "./support/static_server.ts";

/** The largest size of the compressed page in bytes, without the files that only trials need. */
const MAX_GZIP_BYTES = 60_000;

const folder = inject("pagesFolder");
let server: StaticServer;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let errors: string[];
/** The URLs of all requests of the browser context, including those of workers. */
let asked: string[];

beforeAll(async () => {
  server = await serve(folder);
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

beforeEach(async () => {
  server.log.length = 0;
  errors = [];
  asked = [];
  context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: "en-GB" });
  context.on("request", (request) => asked.push(request.url()));
  page = await context.newPage();
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      errors.push(message.text());
    }
  });
});

afterEach(async () => {
  await context.close();
});

async function openGood(): Promise<void> {
  await page.goto(`${server.origin}/join#${GOOD_CODE}`);
  await page.locator("[data-phase=idle]").waitFor();
}

describe("before the tap", () => {
  it("asks its own origin only, for the page, its files and one project", async () => {
    await openGood();
    await page.waitForLoadState("networkidle");
    const foreign = asked.filter((url) => !url.startsWith(`${server.origin}/`));
    expect(foreign).toEqual([]);
    expect(server.log.filter((line) => !line.startsWith("GET /app/")).sort()).toEqual([
      "GET /join",
      "POST /api/project",
    ]);
    expect(errors).toEqual([]);
  });

  it("starts no thread", async () => {
    await openGood();
    await page.waitForLoadState("networkidle");
    expect(page.workers()).toEqual([]);
  });

  it("weighs at most 60 kB", async () => {
    await openGood();
    await page.waitForLoadState("networkidle");
    const paths = server.log
      .filter((line) => line.startsWith("GET "))
      .map((line) => line.slice("GET ".length))
      .map((path) => (path === "/join" ? "/join.html" : path));
    const sizes = await Promise.all(
      [...new Set(paths)].map(async (path) => {
        const { size } = await stat(join(folder, `${path}.gz`));
        return [path, size] as const;
      }),
    );
    const total = sizes.reduce((sum, [, size]) => sum + size, 0);
    for (const [path, size] of sizes) {
      console.log(`${size.toString().padStart(7)} bytes gzip  ${path}`);
    }
    console.log(
      `${total.toString().padStart(7)} bytes gzip before the tap, at most ${MAX_GZIP_BYTES}`,
    );
    expect(sizes.length).toBeGreaterThanOrEqual(3);
    expect(total).toBeLessThanOrEqual(MAX_GZIP_BYTES);
  });

  it("shows names as text, never as markup", async () => {
    await openGood();
    expect(await page.locator("h1").textContent()).toContain("Digits <b>grid</b>");
    expect(await page.locator("h1 b").count()).toBe(0);
  });
});

describe("the tap", () => {
  it("starts the agent thread, which joins, and shows in words why it may not", async () => {
    await openGood();
    expect(server.log).not.toContain("POST /api/join");
    await page.locator("[data-action=start]").click();
    await page.locator("[data-phase=failed]").waitFor();
    expect(server.log.filter((line) => line === "POST /api/join")).toHaveLength(1);
    expect(asked.filter((url) => !url.startsWith(`${server.origin}/`))).toEqual([]);
    const words = await page.locator(".panel").textContent();
    expect(words).toContain(en.states.failures.bad_enrolment_code);
    expect(words).toContain("Code: bad_enrolment_code");
    expect(await page.locator("[data-action=start]").textContent()).toBe("Try again");
    const refused = errors.filter((error) => !error.includes("403"));
    expect(refused).toEqual([]);
  });
});

describe("the code", () => {
  it("stays in the address, for a bookmark, and survives a reload", async () => {
    await openGood();
    await page.reload();
    await page.locator("[data-phase=idle]").waitFor();
    expect(page.url()).toBe(`${server.origin}/join#${GOOD_CODE}`);
  });

  it("that is malformed leaves the address", async () => {
    await page.goto(`${server.origin}/join#a b`);
    await page.locator("[data-phase=project_problem]").waitFor();
    expect(page.url()).toBe(`${server.origin}/join`);
  });

  it("of another link in the same tab takes over", async () => {
    await openGood();
    await page.goto(`${server.origin}/join#hfe_other`);
    await page.locator("[data-phase=project_problem]").waitFor();
    expect(page.url()).toBe(`${server.origin}/join#hfe_other`);
  });

  it("is explained when it is missing", async () => {
    await page.goto(`${server.origin}/join`);
    await page.locator("[data-phase=project_problem]").waitFor();
    expect(await page.locator(".panel").textContent()).toContain("No project on this device");
    expect(server.log).not.toContain("POST /api/project");
  });

  it("is explained when the server does not know it", async () => {
    await page.goto(`${server.origin}/join#hfe_unknown`);
    await page.locator("[data-phase=project_problem]").waitFor();
    expect(await page.locator(".panel").textContent()).toContain("not valid");
    expect(await page.locator("[data-action=start]").count()).toBe(0);
  });
});

describe("the language", () => {
  it("is the browser's, can be switched, and is remembered", async () => {
    await openGood();
    expect(await page.locator("html").getAttribute("lang")).toBe("en");
    await page.locator("[data-action=language]").selectOption("ja");
    await page.locator("html[lang=ja]").waitFor();
    await page.reload();
    await page.locator("[data-phase=idle]").waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("ja");
    expect(await page.title()).toBe("参加する – Hyperflock");
  });

  it("is Japanese where the browser prefers it", async () => {
    const japanese = await browser.newContext({ locale: "ja-JP" });
    const other = await japanese.newPage();
    await other.goto(`${server.origin}/join#${GOOD_CODE}`);
    await other.locator("[data-phase=idle]").waitFor();
    expect(await other.locator("[data-action=start]").textContent()).toBe("開始");
    await japanese.close();
  });

  it("is fetched with the page only where the browser prefers it", async () => {
    const spanish = await browser.newContext({ locale: "es-MX" });
    const own = await spanish.newPage();
    const fetched: string[] = [];
    own.on("request", (request) => fetched.push(new URL(request.url()).pathname));
    await own.goto(`${server.origin}/join#${GOOD_CODE}`);
    await own.locator("[data-phase=idle]").waitFor();
    expect(await own.locator("[data-action=start]").textContent()).toBe("Empezar");
    expect(await own.locator("html").getAttribute("lang")).toBe("es");
    expect(await own.locator(".colophon").textContent()).toContain("sin revisar");
    const files = fetched.filter((path) => path.endsWith(".js"));
    await spanish.close();

    fetched.length = 0;
    page.on("request", (request) => fetched.push(new URL(request.url()).pathname));
    await openGood();
    const plain = fetched.filter((path) => path.endsWith(".js"));
    expect(files.filter((path) => !plain.includes(path))).toHaveLength(1);
  });

  it("stays as it is, with a sentence, if the other one cannot be fetched", async () => {
    await openGood();
    await context.setOffline(true);
    const list = page.locator("[data-action=language]");
    await list.selectOption("zh");
    expect(await page.locator(".language-failed").textContent()).toContain("could not be fetched");
    await expect.poll(() => list.inputValue()).toBe("en");
    expect(await page.locator("[data-action=start]").textContent()).toBe("Start");
    await context.setOffline(false);
    await list.selectOption("ja");
    await expect.poll(() => page.locator("[data-action=start]").textContent()).toBe("開始");
    expect(await page.locator(".language-failed").count()).toBe(0);
  });
});

describe("the build", () => {
  it.each([
    [folder, "join.html"],
    [inject("consoleFolder"), "research.html"],
  ])("has hashed names below app/ and nothing inline: %s/%s", async (where, name) => {
    const html = await readFile(join(where, name), "utf8");
    expect(html).not.toMatch(/<style|style=|\son\w+=/);
    expect(html.match(/<script(?![^>]*\ssrc=)[^>]*>/g)).toBeNull();
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]);
    expect(links.length).toBeGreaterThanOrEqual(3);
    for (const link of links) {
      expect(link).toMatch(
        /^\/(app\/[\w.-]+-[\w-]{8}\.(js|css|svg)|manifest\.webmanifest|apple-touch-icon\.png)$/,
      );
      expect(existsSync(join(where, link ?? "")), link).toBe(true);
    }
  });

  it("gives the researcher's origin no thread and no join page", async () => {
    const files = await readdir(inject("consoleFolder"), { recursive: true });
    expect(files.filter((name) => /thread|worker|join/.test(name))).toEqual([]);
    expect(files).toContain("research.html");
    expect(await readdir(join(folder, "app"))).not.toContainEqual(
      expect.stringMatching(/research/),
    );
  });

  it("keeps each thread's name in front of its file's name", async () => {
    const files = (await readdir(join(folder, "app"))).filter((name) => name.endsWith(".js"));
    expect(files.filter((name) => /^python-thread-[\w-]{8}\.js$/.test(name))).toHaveLength(1);
  });

  it("has a br and a gz sibling of each text file, with the same content", async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const texts = entries
      .filter((entry) => entry.isFile() && /\.(js|css|html|svg)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name));
    expect(texts.length).toBeGreaterThanOrEqual(4);
    for (const path of texts) {
      expect(existsSync(`${path}.br`) && existsSync(`${path}.gz`), path).toBe(true);
      const bytes = await readFile(path);
      expect(gunzipSync(await readFile(`${path}.gz`)).equals(bytes), path).toBe(true);
      expect(brotliDecompressSync(await readFile(`${path}.br`)).equals(bytes), path).toBe(true);
    }
  });

  it("holds no story", async () => {
    const files = await readdir(join(folder, "app"));
    for (const name of files.filter((file) => file.endsWith(".js"))) {
      expect(await readFile(join(folder, "app", name), "utf8"), name).not.toContain(STORY_CODE);
    }
    expect(files.length).toBeGreaterThan(0);
  });
});
