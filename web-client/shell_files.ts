// Vite plugin: writes the files by which a browser installs the join page as an app. These are the manifest, the icons,
// the picture of link previews, and the service worker with the list of the build's files. They lie at the top of the
// build, because their names must not change. Node at build time.

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type HtmlTagDescriptor, type Plugin } from "vite";
import { drawIcon, type Picture, readMark } from "./draw_icons.ts";
import type { Shell } from "./src/app_shell/shell_cache.ts";
import { TARGET } from "./vite.pages.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export const DESCRIPTION =
  "Lend your phone or computer to research: it trains small neural networks in the browser, while you let it.";

const square = (size: number, scale: number, isFull: boolean): Picture => ({
  width: size,
  height: size,
  scale,
  isFull,
});
const PICTURES: Readonly<Record<string, Picture>> = {
  "icon-192.png": square(192, 1, false),
  "icon-512.png": square(512, 1, false),
  // Of a maskable icon, the system may cut all outside a circle of 80 % of the width.
  "icon-maskable-512.png": square(512, 0.8, true),
  // iOS makes the corners round by itself.
  "apple-touch-icon.png": square(180, 0.92, true),
  "preview.png": { width: 1200, height: 630, scale: 0.8, isFull: true },
};

const icon = (src: string, size: number, purpose: string) => ({
  src: `/${src}`,
  sizes: `${size}x${size}`,
  type: "image/png",
  purpose,
});
const MANIFEST = {
  id: "/",
  name: "Hyperflock",
  short_name: "Hyperflock",
  description: DESCRIPTION,
  lang: "en",
  start_url: "/",
  scope: "/",
  display: "standalone",
  // The page's own colours for both themes are in its head (vite.pages.ts).
  theme_color: "#f4f7f6",
  background_color: "#f4f7f6",
  icons: [
    icon("icon-192.png", 192, "any"),
    icon("icon-512.png", 512, "any"),
    icon("icon-maskable-512.png", 512, "maskable"),
  ],
};

/** Stands for the origin of a request: link previews take complete addresses only. static_files.h has it too. */
const ORIGIN_PLACEHOLDER = "https://origin.invalid";

/** What a page's head says to installers and to programs that show a preview of a link. */
export const SHELL_HEAD: readonly HtmlTagDescriptor[] = [
  ["link", { rel: "manifest", href: "/manifest.webmanifest" }],
  ["link", { rel: "apple-touch-icon", href: "/apple-touch-icon.png" }],
  ["meta", { name: "mobile-web-app-capable", content: "yes" }],
  ["meta", { name: "apple-mobile-web-app-capable", content: "yes" }],
  ["meta", { name: "apple-mobile-web-app-title", content: "Hyperflock" }],
  ["meta", { name: "description", content: DESCRIPTION }],
  ["meta", { property: "og:type", content: "website" }],
  ["meta", { property: "og:site_name", content: "Hyperflock" }],
  ["meta", { property: "og:title", content: "Lend this device to research – Hyperflock" }],
  ["meta", { property: "og:description", content: DESCRIPTION }],
  ["meta", { property: "og:image", content: `${ORIGIN_PLACEHOLDER}/preview.png` }],
  ["meta", { name: "twitter:card", content: "summary_large_image" }],
].map(([tag, attrs]) => ({ tag, attrs, injectTo: "head" }) as HtmlTagDescriptor);

/** `page` is the name of the HTML file that is kept for offline use. Files of `others` are not kept with it. */
export function shellFiles(page: string, others: readonly string[]): Plugin {
  return {
    name: "hyperflock:shell-files",
    apply: "build",
    transformIndexHtml: {
      // Vite has read the head by then, so it does not look for these files in the sources.
      order: "post",
      handler: (_html, { filename }) => (filename.endsWith(`/${page}.html`) ? [...SHELL_HEAD] : []),
    },
    async writeBundle({ dir = "" }, bundle) {
      const entry = Object.values(bundle).find(
        (file) => file.type === "chunk" && file.isEntry && file.name === page,
      );
      if (entry === undefined) throw new Error(`The build has no page ${page}.`);
      const isKept = (name: string) =>
        name.startsWith("app/") && !others.some((other) => name.startsWith(`app/${other}-`));
      const files = Object.keys(bundle).filter(isKept).sort();
      const html = await readFile(join(dir, `${page}.html`));
      const version = createHash("sha256").update(files.join("\n")).update(html).digest("hex");
      const shell: Shell = {
        version: version.slice(0, 16),
        entry: `/${entry.fileName}`,
        files: files.map((name) => `/${name}`),
      };
      const mark = readMark(await readFile(here("src/ui/mark.svg"), "utf8"));
      await Promise.all([
        writeFile(join(dir, "manifest.webmanifest"), `${JSON.stringify(MANIFEST, null, 1)}\n`),
        ...Object.entries(PICTURES).map(([name, picture]) =>
          writeFile(join(dir, name), drawIcon(mark, picture)),
        ),
      ]);
      await buildWorker(dir, shell);
    },
  };
}

/** Builds `sw.js`: one classic script, because older browsers take no module as a service worker. */
async function buildWorker(outDir: string, shell: Shell): Promise<void> {
  await build({
    configFile: false,
    root: here("."),
    publicDir: false,
    logLevel: "warn",
    define: { SHELL: JSON.stringify(shell) },
    build: {
      outDir,
      emptyOutDir: false,
      target: TARGET,
      modulePreload: false,
      reportCompressedSize: false,
      rolldownOptions: {
        input: here("src/app_shell/service_worker.ts"),
        output: { format: "iife", entryFileNames: "sw.js" },
      },
    },
  });
}
