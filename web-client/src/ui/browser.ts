// The functions of the browser that every page's script uses. Page thread.

import { type ComponentChild, render } from "preact";
import {
  languageNames,
  type Names,
  preferredLanguage,
  rememberedLanguage,
  rememberLanguage,
  type VolunteerLanguage,
} from "../i18n/language.ts";

/** Calls `storage()` only when the store is used, because `storage()` throws if the browser blocks cookies. */
const storeOf = (storage: () => Storage) => ({
  getItem: (key: string) => storage().getItem(key),
  setItem: (key: string, value: string) => storage().setItem(key, value),
  removeItem: (key: string) => storage().removeItem(key),
});
/** The storage of this origin, for the user's choices. */
export const local = storeOf(() => localStorage);
/** This tab's storage. */
export const session = storeOf(() => sessionStorage);

/** Returns the language at the start of a page that has these languages. */
export function firstLanguage<Name extends string>(names: Names<Name>): Name | "en" {
  return rememberedLanguage(local, names) ?? preferredLanguage(navigator.languages, names);
}

export const remember = (language: VolunteerLanguage) => rememberLanguage(local, language);

/** The language at the start of a page that has all texts in its script, and the function that remembers a choice. */
export const languages = {
  language: firstLanguage(languageNames),
  rememberLanguage: remember,
};

/** Adds a listener. Returns a function that removes it. */
export function listen(target: EventTarget, event: string, listener: () => void): () => void {
  target.addEventListener(event, listener);
  return () => target.removeEventListener(event, listener);
}

/** Offers the content as a download. The browser removes special characters from the name. */
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
    document.querySelector(".not-started")?.remove();
    render(page, root);
  }
}
