// The passphrase of this browser's devices: makes one, takes one that is entered, and gives it to each device that joins
// later. The browser keeps the key and which devices have it, not the words. Page thread.

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { isRecord } from "../answer.ts";
import { drawPassphrase, type FillRandom, keyOf, readPassphrase } from "./passphrase.ts";
import type { Asked, PassphraseProblem, Together } from "./passphrase_api.ts";
import { PASSPHRASE_KEY } from "./passphrase_part.ts";

export interface PassphraseEnvironment {
  readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  /** Returns the Authorization headers of this browser's devices. */
  readonly authorizations: () => Promise<readonly string[]>;
  readonly fetchTogether: (key: string) => Promise<Asked<Together>>;
  readonly join: (authorization: string, key: string, isNew: boolean) => Promise<Asked<true>>;
  /** Fetches the list of words. */
  readonly loadWords: () => Promise<readonly string[]>;
  readonly fillRandom: FillRandom;
}

export type EntryProblem =
  | { readonly kind: PassphraseProblem | "no_device" | "not_kept" }
  | { readonly kind: "unknown_word"; readonly word: string }
  | { readonly kind: "count"; readonly count: number };

export type PassphraseView =
  | { readonly kind: "closed" }
  | { readonly kind: "working" }
  /** The words are shown, this once. */
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "entry"; readonly problem: EntryProblem | null; readonly isWorking: boolean }
  | { readonly kind: "problem"; readonly problem: EntryProblem };

/** What the browser keeps. A device is named by its id, which is no secret. */
interface Kept {
  readonly key: string;
  readonly devices: readonly string[];
}

const idOf = (authorization: string) => authorization.replace(/^Device /, "").split(":")[0] ?? "";

export class PassphraseStore {
  readonly #environment: PassphraseEnvironment;
  readonly #view: Signal<PassphraseView> = signal({ kind: "closed" });
  readonly #together: Signal<Together | null> = signal(null);
  #kept: Kept | null;
  /** Whether the browser's storage has what is kept; otherwise only this page has it. */
  #isStored = true;
  /** Requests to give a device the passphrase, one after the other. */
  #linking: Promise<void> = Promise.resolve();

  constructor(environment: PassphraseEnvironment) {
    this.#environment = environment;
    this.#kept = this.#read();
  }

  get view(): ReadonlySignal<PassphraseView> {
    return this.#view;
  }

  /** What the devices of the passphrase gave; null without a passphrase, or until the server has answered. */
  get together(): ReadonlySignal<Together | null> {
    return this.#together;
  }

  /** Makes a passphrase for the devices of this browser, and shows it. Must be called from a tap. */
  async make(): Promise<void> {
    this.#view.value = { kind: "working" };
    const [words, devices] = await this.#prepare();
    if (words === null) {
      return this.#fail({ kind: "unreachable" });
    }
    const [first, ...others] = devices;
    if (first === undefined) {
      return this.#fail({ kind: "no_device" });
    }
    const passphrase = drawPassphrase(words, this.#environment.fillRandom);
    const key = await keyOf(passphrase);
    // If the reply is lost, the server may have taken the device from its old passphrase. Then it gets that one back.
    this.#unlink(first);
    const made = await this.#environment.join(first, key, true);
    if (made.kind === "problem") {
      await this.link(first);
      return this.#fail({ kind: made.problem });
    }
    this.#keep({ key, devices: [idOf(first)] });
    for (const other of others) await this.link(other);
    await this.refresh();
    this.#view.value = { kind: "words", words: passphrase };
  }

  /** Opens the entry of words, or closes what is open. */
  enter(): void {
    this.#view.value = { kind: "entry", problem: null, isWorking: false };
  }

  close(): void {
    this.#view.value = { kind: "closed" };
  }

  /** Restores what the devices of the entered passphrase gave, and gives it to the devices of this browser. */
  async restore(text: string): Promise<void> {
    // What was entered stays there, to be mended.
    this.#view.value = { kind: "entry", problem: null, isWorking: true };
    const [list, devices] = await this.#prepare();
    if (list === null) {
      return this.#refuse({ kind: "unreachable" });
    }
    const reading = readPassphrase(text, list);
    if (reading.kind !== "words") {
      return this.#refuse(reading);
    }
    const key = await keyOf(reading.words);
    const asked = await this.#environment.fetchTogether(key);
    if (asked.kind === "problem") {
      return this.#refuse({ kind: asked.problem });
    }
    const isKept = this.#keep({ key, devices: [] });
    this.#together.value = asked.answer;
    for (const device of devices) await this.link(device);
    await this.refresh();
    this.#view.value = isKept
      ? { kind: "closed" }
      : { kind: "problem", problem: { kind: "not_kept" } };
  }

  /** Gives the passphrase, if there is one, to a device that has joined and does not have it yet. */
  link(authorization: string): Promise<void> {
    this.#linking = this.#linking.then(() => this.#link(authorization));
    return this.#linking;
  }

  /** Asks again what the devices gave. A passphrase that the server does not know any more is forgotten. */
  async refresh(): Promise<void> {
    const kept = this.#current();
    if (kept === null) {
      return;
    }
    const asked = await this.#environment.fetchTogether(kept.key);
    if (this.#current()?.key !== kept.key) {
      return;
    }
    if (asked.kind === "answer") {
      this.#together.value = asked.answer;
    } else if (asked.problem === "unknown") {
      this.forget();
    }
  }

  /** Forgets the passphrase in this browser. */
  forget(): void {
    this.#kept = null;
    this.#together.value = null;
    this.#view.value = { kind: "closed" };
    try {
      this.#environment.storage.removeItem(PASSPHRASE_KEY);
    } catch {
      // Storage is forbidden, so nothing was kept.
    }
  }

  async #link(authorization: string): Promise<void> {
    const kept = this.#current();
    const id = idOf(authorization);
    if (kept === null || kept.devices.includes(id)) {
      return;
    }
    const joined = await this.#environment.join(authorization, kept.key, false);
    if (joined.kind === "answer" && this.#current()?.key === kept.key) {
      this.#keep({ key: kept.key, devices: [...kept.devices, id] });
    }
  }

  /** Lets the next link() ask the server again about a device. */
  #unlink(authorization: string): void {
    const kept = this.#current();
    if (kept === null) return;
    const id = idOf(authorization);
    this.#keep({ key: kept.key, devices: kept.devices.filter((one) => one !== id) });
  }

  async #prepare(): Promise<[readonly string[] | null, readonly string[]]> {
    const { loadWords, authorizations } = this.#environment;
    return Promise.all([loadWords().catch(() => null), authorizations()]);
  }

  #fail(problem: EntryProblem): void {
    this.#view.value = { kind: "problem", problem };
  }

  #refuse(problem: EntryProblem): void {
    this.#view.value = { kind: "entry", problem, isWorking: false };
  }

  /** Returns whether the browser stores it, too. */
  #keep(kept: Kept): boolean {
    this.#kept = kept;
    try {
      this.#environment.storage.setItem(PASSPHRASE_KEY, JSON.stringify(kept));
      this.#isStored = true;
    } catch {
      this.#isStored = false;
    }
    return this.#isStored;
  }

  /** Returns what is kept now. Another tab may have changed it. */
  #current(): Kept | null {
    if (this.#isStored) this.#kept = this.#read();
    return this.#kept;
  }

  #read(): Kept | null {
    try {
      const kept: unknown = JSON.parse(this.#environment.storage.getItem(PASSPHRASE_KEY) ?? "null");
      if (!isRecord(kept) || !Array.isArray(kept.devices)) return null;
      const { key } = kept;
      const devices = kept.devices.filter((id: unknown) => typeof id === "string");
      return typeof key === "string" && /^[0-9a-f]{64}$/.test(key) ? { key, devices } : null;
    } catch {
      return null;
    }
  }
}
