// What every page's entry takes from the browser. Page thread.

import { type ComponentChild, render } from "preact";
import {
  type Language,
  preferredLanguage,
  rememberedLanguage,
  rememberLanguage,
} from "../i18n/language.ts";

/** Storage by getter: where cookies are blocked, naming `localStorage` throws already. */
const storeOf = (storage: () => Storage) => ({
  getItem: (key: string) => storage().getItem(key),
  setItem: (key: string, value: string) => storage().setItem(key, value),
  removeItem: (key: string) => storage().removeItem(key),
});
/** This origin's, for choices. */
export const local = storeOf(() => localStorage);
/** This tab's own. */
export const session = storeOf(() => sessionStorage);

/** The language to begin with, and what remembers a choice. */
export const languages = {
  language: rememberedLanguage(local) ?? preferredLanguage(navigator.languages),
  rememberLanguage: (language: Language) => rememberLanguage(local, language),
};

/** Returns the way to stop. */
export function listen(target: EventTarget, event: string, listener: () => void): () => void {
  target.addEventListener(event, listener);
  return () => target.removeEventListener(event, listener);
}

/** Gives the reader a file; its name is cut to harmless characters by the browser. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

export function show(page: ComponentChild): void {
  const root = document.getElementById("app");
  if (root !== null) {
    render(page, root);
  }
}
