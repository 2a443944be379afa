// The researchers of a run: two with drawn weights share a project, and a third one's project lends them its devices.

import type { Server } from "../e2e/stack.ts";

/** One study of the run. */
export interface Tenant {
  readonly name: string;
  readonly token: string;
  readonly weight: number;
  readonly trials: number;
}

export interface Tenants {
  /** Both of the first project. */
  readonly sharing: readonly [Tenant, Tenant];
  /** The one whose project lends its devices, and the code with which devices join that project. */
  readonly lender: Tenant;
  readonly lenderCode: string;
}

const LENDER = "lender";
const WEIGHTS = [50, 100, 200, 400];

/** Makes the researchers and sets their shares, as the administrator does. */
export async function tenantsOf(server: Server, random: () => number): Promise<Tenants> {
  const credentials = await server.credentials();
  const ask = async <T>(path: string, body?: object): Promise<T> =>
    server.api<T>(path, {
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${credentials.admin_token}`,
        "content-type": "application/json",
      },
    });
  const { projects } = await ask<{ projects: { project: string }[] }>("/api/projects");
  const first = projects[0]?.project ?? "";
  await ask("/api/projects", { project: LENDER });
  const join = (name: string, project: string) =>
    ask<{ token: string }>("/api/researchers", { name, projects: [project] });
  const [second, host] = [await join("second", first), await join("host", LENDER)];
  const { code } = await ask<{ code: string }>("/api/enrolment", { project: LENDER });
  await ask("/api/shares", { scope: "project", name: LENDER, lends: [first] });
  const me = await server.api<{ name: string }>("/api/me");
  const drawn = () => WEIGHTS[Math.floor(random() * WEIGHTS.length)] ?? 100;
  const sharing: [Tenant, Tenant] = [
    { name: me.name, token: credentials.researcher_token, weight: drawn(), trials: 26 },
    { name: "second", token: second.token, weight: drawn(), trials: 18 },
  ];
  for (const { name, weight } of sharing) {
    await ask("/api/shares", { scope: "researcher", name, weight });
  }
  return {
    sharing,
    lender: { name: "host", token: host.token, weight: 100, trials: 10 },
    lenderCode: code,
  };
}
