// The texts about the page as an app: without a connection, in a new version, on the home screen. Page thread; pure data.

import type { Notice } from "../i18n/dictionary.ts";

export interface AppWords {
  readonly offline: Notice;
  readonly newVersion: Notice;
  readonly reload: string;
  readonly install: Notice;
  readonly add: string;
  readonly notNow: string;
  /** The two steps in Safari on iOS. */
  readonly iosSteps: readonly [string, string];
  /** The dark page with a clock. */
  readonly night: { readonly begin: string; readonly label: string; readonly end: string };
}

export const enApp: AppWords = {
  offline: {
    title: "No connection",
    text: "Your projects are here. Computing goes on when this device reaches the server again and you tap Start.",
  },
  newVersion: {
    title: "A new version is ready",
    text: "Reload this page to use it. Nothing gets lost.",
  },
  reload: "Reload",
  install: {
    title: "Keep it at hand",
    text: "With an icon of its own, you come back with one tap.",
  },
  add: "Add icon",
  notNow: "No, thank you",
  iosSteps: ["Tap the share symbol in Safari’s bar.", "Choose “Add to Home Screen”."],
  night: { begin: "Dim for the night", label: "Night clock", end: "Tap to end" },
};
