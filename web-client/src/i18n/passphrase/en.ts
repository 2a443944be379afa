// The English texts about passphrases. Page thread; pure data.

import type { PassphraseWords } from "./words.ts";

export const enPassphrase: PassphraseWords = {
  text: "Eight words bring it to another phone or browser, without an account. Whoever has the words can see how much was given, and nothing else.",
  kept: (count, formatted) =>
    count === 1
      ? "Kept by eight words. This device has them."
      : `Kept by eight words. ${formatted} devices have them and are counted together.`,
  make: "Keep with eight words",
  makeNew: "Make new words",
  makeNewHint:
    "New words begin with the devices of this browser. Other devices keep the old words.",
  restore: "Enter your words",
  working: "One moment…",
  words: "Your words",
  once: "Write these words down now. They are shown only once, and stored nowhere.",
  copy: "Copy the words",
  copied: "Copied.",
  copyByHand: "Copying did not work. Write the words down.",
  done: "I have them",
  entry: "Your eight words",
  entryHint: "The first three letters of each word are enough.",
  confirm: "Restore",
  cancel: "Cancel",
  problems: {
    unknown:
      "No device has these words. Check each word and their order. If all devices with them were forgotten, nothing is left to restore.",
    full: "Too many devices have these words already. Forget one of them first.",
    rate_limited: "Too many tries just now. Wait a minute, then try again.",
    unreachable: "The server could not be reached. Try again.",
    no_device: "Start once first: there is nothing to keep yet.",
    not_kept:
      "Restored for this visit. This browser stores nothing, as in a private window, so enter the words again next time.",
  },
  unknownWord: (word) => `“${word}” is not one of the words.`,
  count: (count, needed) => `These are ${count} words. It takes ${needed}.`,
};
