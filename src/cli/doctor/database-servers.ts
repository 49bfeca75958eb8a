/** Checks that each server of DATABASE_URL can be reached: after a failover any of them may be the primary. */
import { readDatabaseAddress, serverName } from "#platform/database/servers/database-address.ts";
import { findServerRole } from "#platform/database/servers/server-role-store.ts";
import { type Finding, of } from "./finding.ts";

const say = of("servers");

/** Nothing when the URL names one server. @param url DATABASE_URL; null for the embedded database */
export async function checkDatabaseServers(url: string | null): Promise<Finding[]> {
  if (url === null) return [];
  const { connectionString, servers } = readDatabaseAddress(url);
  if (servers.length === 1) return [];
  const roles = await Promise.all(servers.map((server) => findServerRole(connectionString, server)));
  const away = servers.flatMap((server, at) => {
    const role = roles[at];
    return role?.kind === "away" ? [`${serverName(server)} (${role.reason})`] : [];
  });
  if (away.length === 0) return [say("ok", `${servers.map(serverName).join(", ")} answer.`)];
  return [
    say(
      "warning",
      `Of the servers of DATABASE_URL these do not answer: ${away.join(", ")}. The service cannot follow one of them that is promoted: start it, or correct DATABASE_URL.`,
    ),
  ];
}
