// Decides whether to offer the page's place on the home screen, and how: by the browser's own dialogue where it has one,
// by a sentence on iOS, and not at all inside an app's browser or in an installed app. Page thread.

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { KeyValueStore } from "../i18n/language.ts";

const STORAGE_KEY = "hyperflock.install-hint";
const DISMISSED = "dismissed";

/** The browser's offer to install the page. Chromium sends it as the event `beforeinstallprompt`. */
export interface InstallOffer extends Event {
  prompt(): Promise<unknown>;
  readonly userChoice: Promise<{ readonly outcome: "accepted" | "dismissed" }>;
}

export type InstallWay = "button" | "ios" | "none";

export interface InstallEnvironment {
  readonly isInApp: boolean;
  /** Whether the page runs as an installed app already. */
  readonly isInstalled: boolean;
  readonly isIosSafari: boolean;
  readonly store: KeyValueStore;
}

export class InstallHint {
  readonly #environment: InstallEnvironment;
  readonly #way: Signal<InstallWay> = signal("none");
  #offer: InstallOffer | null = null;

  constructor(environment: InstallEnvironment) {
    this.#environment = environment;
    if (this.#mayHint && environment.isIosSafari) this.#way.value = "ios";
  }

  get way(): ReadonlySignal<InstallWay> {
    return this.#way;
  }

  /** Takes the browser's offer, so that it shows no banner of its own. */
  offered(offer: InstallOffer): void {
    if (!this.#mayHint) return;
    offer.preventDefault();
    this.#offer = offer;
    this.#way.value = "button";
  }

  /** Opens the browser's dialogue. Call it from a tap. */
  async accept(): Promise<void> {
    const offer = this.#offer;
    if (offer === null) return;
    // A browser opens the dialogue of an offer once. After a refusal it makes a new offer, some time later.
    this.#offer = null;
    this.#way.value = "none";
    await offer.prompt();
    const { outcome } = await offer.userChoice;
    if (outcome === "accepted") this.dismiss();
  }

  /** Never hints again in this browser. */
  dismiss(): void {
    this.#offer = null;
    this.#way.value = "none";
    try {
      this.#environment.store.setItem(STORAGE_KEY, DISMISSED);
    } catch {
      // Storage is forbidden, so the hint may come back at the next visit.
    }
  }

  get #mayHint(): boolean {
    const { isInApp, isInstalled, store } = this.#environment;
    if (isInApp || isInstalled) return false;
    try {
      return store.getItem(STORAGE_KEY) !== DISMISSED;
    } catch {
      return false; // Such a browser remembers no project either.
    }
  }
}

/**
 * Whether this is Safari itself on an iPhone or iPad. An iPad calls itself a Mac, but no Mac has a touch screen. The other
 * browsers of iOS have menus of their own.
 */
export function isIosSafari(userAgent: string, maxTouchPoints: number): boolean {
  const isIos =
    /\b(?:iPhone|iPad|iPod)\b/.test(userAgent) ||
    (/\bMacintosh\b/.test(userAgent) && maxTouchPoints > 1);
  return (
    isIos && /\bSafari\//.test(userAgent) && !/\b(?:CriOS|FxiOS|EdgiOS|OPT|GSA)\//.test(userAgent)
  );
}
