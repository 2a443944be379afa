// The parts that the builds of the pages share: the head of every page, and the layout of files. The builds themselves
// are separate (vite.config.ts, vite.research.config.ts), because each origin serves its own folder and no file is in
// both. Node at build time.

import { fileURLToPath } from "node:url";
import type { HtmlTagDescriptor, Plugin, UserConfig } from "vite";
import { MINIMUM } from "../worker-runtime/src/platform/minimum.ts";
import { precompress } from "./precompress.ts";

/** The browsers for which the syntax of scripts and styles is compiled, in esbuild's words. */
export const TARGET = Object.entries(MINIMUM).map(([browser, version]) => `${browser}${version}`);

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const meta = (attrs: Record<string, string>): HtmlTagDescriptor => ({ tag: "meta", attrs });

/** Puts the same head on every page. `mark` is the icon's path from the page. */
export function pageHead(mark: string): Plugin {
  const tags: HtmlTagDescriptor[] = [
    meta({ charset: "utf-8" }),
    meta({ name: "viewport", content: "width=device-width, initial-scale=1" }),
    meta({ name: "color-scheme", content: "light dark" }),
    meta({ name: "theme-color", content: "#f4f7f6", media: "(prefers-color-scheme: light)" }),
    meta({ name: "theme-color", content: "#0d1514", media: "(prefers-color-scheme: dark)" }),
    meta({ name: "robots", content: "noindex" }),
    meta({ name: "referrer", content: "no-referrer" }),
    { tag: "link", attrs: { rel: "icon", type: "image/svg+xml", href: mark } },
  ];
  return {
    name: "hyperflock:page-head",
    // The head is added before Vite searches the page for files, so that Vite finds the icon.
    transformIndexHtml: {
      order: "pre",
      handler: () => tags.map((tag) => ({ ...tag, injectTo: "head-prepend" as const })),
    },
  };
}

/** Puts `<page>.html` at the top of `outDir`, and everything else below `app/`, named by hash. Nothing is inlined. */
export function pageBuild(outDir: string): NonNullable<UserConfig["build"]> {
  return {
    outDir,
    emptyOutDir: true,
    assetsDir: "app",
    target: TARGET,
    // The pages' policy allows scripts and styles from files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  };
}

/**
 * Returns the build configuration of `pages`, which are names of HTML files in this folder. `outDir` is below the
 * project's root. `plugins` run before the files are compressed.
 */
export function buildOf(
  pages: readonly string[],
  outDir: string,
  plugins: readonly Plugin[] = [],
): UserConfig {
  const input = Object.fromEntries(pages.map((page) => [page, here(`${page}.html`)]));
  return {
    root: here("."),
    base: "/",
    publicDir: false,
    build: { ...pageBuild(here(`../${outDir}`)), rolldownOptions: { input } },
    plugins: [pageHead("/src/ui/mark.svg"), ...plugins, precompress()],
  };
}
