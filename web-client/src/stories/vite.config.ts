// Builds the stories: every state of the join page, of the researcher's page and of the self-test page, with a
// volunteer that computes nothing and a console without a server. The browser tests use them, and
// `npm run stories -w web-client` shows them. They are never part of `build/web`.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { pageBuild, pageHead } from "../../vite.pages.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  publicDir: false,
  server: { host: "127.0.0.1", open: false },
  build: {
    ...pageBuild(here("../../../build/stories")),
    rolldownOptions: {
      input: {
        stories: here("index.html"),
        research: here("research.html"),
        selftest: here("selftest.html"),
      },
    },
  },
  plugins: [pageHead("../ui/mark.svg")],
});
