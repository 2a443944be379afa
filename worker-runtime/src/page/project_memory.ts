// Remembers on this device which projects its volunteer has joined, so that a bookmark without a code leads back to them.
// The codes and names are in an IndexedDB of their own, and in a small mirror in localStorage, which can be read before
// the page is first drawn and survives if the browser drops the database. The devices' secrets are in the agent's
// database only (agent/files/store.ts). Page thread. Every function works, and remembers nothing, if storage is refused.

import type { DBSchema, IDBPDatabase } from "idb";
import { authorizationOf } from "../agent/files/authorization.ts";
import { Store } from "../agent/files/store.ts";
import { inTime, openDatabase } from "../base/database.ts";
import { isEnrolmentCode } from "../base/enrolment_code.ts";
import type { Contribution } from "../page_contract/volunteer_state.ts";

export const MIRROR_KEY = "hyperflock.projects";
/** More projects than this are not remembered. */
export const MAX_PROJECTS = 16;
const MAX_NAME_CHARS = 200;

/** A project as the page remembers it. The names are those of the last visit; the server may have others now. */
export interface RememberedProject {
  readonly code: string;
  readonly name: string;
  readonly owner: string;
  /** The time of the last start in Unix milliseconds. */
  readonly usedAt: number;
}

/** What this device knows of itself in a project. */
export interface KnownDevice {
  /** Whether this browser has joined the project and can go on without the join link. */
  readonly hasDevice: boolean;
  /** The trials whose results the server has acknowledged, and the time that they took. */
  readonly contribution: Contribution;
}

/** The remembered projects, the newest first, and the number of records that could not be read. */
export interface Memories {
  readonly projects: readonly RememberedProject[];
  readonly damaged: number;
}

interface Schema extends DBSchema {
  projects: { key: string; value: RememberedProject };
}

export type MirrorStore = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export class ProjectMemory {
  readonly #mirror: MirrorStore;
  #database: Promise<IDBPDatabase<Schema> | null> | null = null;

  constructor(mirror: MirrorStore) {
    this.#mirror = mirror;
  }

  /** Returns the mirror's projects at once. */
  atOnce(): Memories {
    try {
      const text = this.#mirror.getItem(MIRROR_KEY);
      const records: unknown = text === null ? [] : JSON.parse(text);
      return Array.isArray(records) ? memoriesOf(records) : { projects: [], damaged: 1 };
    } catch {
      return { projects: [], damaged: this.#hasMirror() ? 1 : 0 };
    }
  }

  /** Returns the projects of the database and of the mirror. A record that only one of them has is enough. */
  async list(): Promise<Memories> {
    const database = await this.#open();
    const stored = await inTime(database?.getAll("projects"), []);
    const found = memoriesOf(stored);
    const mirrored = this.atOnce();
    return {
      projects: newestFirst([...found.projects, ...mirrored.projects]),
      damaged: found.damaged + mirrored.damaged,
    };
  }

  /** Returns what this browser knows of its device in a project. */
  async deviceOf(code: string): Promise<KnownDevice> {
    const store = await Store.open(code).catch(() => null);
    const nothing: KnownDevice = { hasDevice: false, contribution: { trials: 0, seconds: 0 } };
    if (store === null) return nothing;
    const [device, contribution] = await Promise.all([store.device(), store.contribution()]);
    return isContribution(contribution) ? { hasDevice: device !== null, contribution } : nothing;
  }

  /** Returns the Authorization header of this browser's device in a project; null without a device. */
  async authorizationOf(code: string): Promise<string | null> {
    const store = await Store.open(code).catch(() => null);
    const device = (await store?.device()) ?? null;
    return device === null ? null : authorizationOf(device);
  }

  /** Remembers a project. Returns whether it can be read again, so that a bookmark without its code will work. */
  async remember(project: RememberedProject): Promise<boolean> {
    const [record] = memoriesOf([project]).projects;
    if (record === undefined) return false;
    const { projects } = await this.list();
    const others = projects.filter(({ code }) => code !== record.code);
    if (others.length >= MAX_PROJECTS) return false;
    const database = await this.#open();
    await inTime(database?.put("projects", record, record.code), undefined);
    this.#write([record, ...others]);
    const kept = await this.list();
    return kept.projects.some(
      ({ code, usedAt }) => code === record.code && usedAt === record.usedAt,
    );
  }

  /** Forgets a project, and with it every record that cannot be read. */
  async forget(code: string): Promise<void> {
    const { projects } = await this.list();
    const others = projects.filter((project) => project.code !== code);
    const database = await this.#open();
    await inTime(database?.clear("projects"), undefined);
    for (const other of others)
      await inTime(database?.put("projects", other, other.code), undefined);
    this.#write(others);
  }

  #write(projects: readonly RememberedProject[]): void {
    try {
      if (projects.length === 0) this.#mirror.removeItem(MIRROR_KEY);
      else this.#mirror.setItem(MIRROR_KEY, JSON.stringify(projects));
    } catch {
      // Storage is forbidden or full. The database may have the record.
    }
  }

  #hasMirror(): boolean {
    try {
      return this.#mirror.getItem(MIRROR_KEY) !== null;
    } catch {
      return false;
    }
  }

  #open(): Promise<IDBPDatabase<Schema> | null> {
    this.#database ??= openDatabase<Schema>("hyperflock.projects", (fresh) => {
      fresh.createObjectStore("projects");
    });
    return this.#database;
  }
}

function memoriesOf(records: readonly unknown[]): Memories {
  const good = records.map(projectOf).filter((project) => project !== null);
  return { projects: newestFirst(good), damaged: records.length - good.length };
}

function projectOf(value: unknown): RememberedProject | null {
  if (typeof value !== "object" || value === null) return null;
  const { code, name, owner, usedAt } = value as Readonly<Record<string, unknown>>;
  if (!isEnrolmentCode(code)) return null;
  if (typeof name !== "string" || typeof owner !== "string") return null;
  if (typeof usedAt !== "number" || !Number.isFinite(usedAt)) return null;
  return {
    code,
    name: name.slice(0, MAX_NAME_CHARS),
    owner: owner.slice(0, MAX_NAME_CHARS),
    usedAt,
  };
}

/** Returns each project once, the newest record of it, and the newest first. */
function newestFirst(projects: readonly RememberedProject[]): readonly RememberedProject[] {
  const found = new Map<string, RememberedProject>();
  for (const project of projects.toSorted((a, b) => b.usedAt - a.usedAt)) {
    if (!found.has(project.code)) found.set(project.code, project);
  }
  return [...found.values()].slice(0, MAX_PROJECTS);
}

function isContribution(value: unknown): value is Contribution {
  if (typeof value !== "object" || value === null) return false;
  const { trials, seconds } = value as Readonly<Record<string, unknown>>;
  return (
    typeof trials === "number" &&
    Number.isSafeInteger(trials) &&
    trials >= 0 &&
    typeof seconds === "number" &&
    Number.isFinite(seconds) &&
    seconds >= 0
  );
}
