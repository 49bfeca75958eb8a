/**
 * As whom the embedded PostgreSQL runs. It refuses to be root, and it has to reach its programs and its data, which
 * may lie where only root can look. Every way is a few words in front of the command, tried in order of preference:
 *
 * 1. an ordinary user: as that user;
 * 2. root, for new data: as a user of PostgreSQL's own, who can reach nothing else, where programs and data lie in folders
 *    that this user can pass;
 * 3. root otherwise: in a user namespace of its own, where PostgreSQL does not see that it is root, and files stay root's;
 * 4. root where such namespaces are forbidden (many containers): as `nobody`, who then owns the data;
 * 5. the same, with the one capability to pass folders that are closed to others, such as root's home.
 *
 * Data that is there is served as its owner: data that root owns in the ways 3 to 5, and other data as its user.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface Launch {
  /** Words before the program's own command line. */
  readonly prefix: readonly string[];
  /** The same for initdb, which has to find a name for its user; without it `prefix`. */
  readonly initPrefix?: readonly string[];
  /** For the log: as whom. */
  readonly who: string;
  /** Whose the data must be, as seen from here. */
  readonly uid: number;
  readonly gid: number;
}

const NOBODY = 65_534;

/** Of a range that neither distributions nor systemd give to anybody (systemd: "UIDs and GIDs", 60578 to 61183). */
export const OWN_USER = 60_999;

/**
 * On Linux the kernel ends PostgreSQL when our process is gone, even by SIGKILL. SIGQUIT ends it at once, and the next
 * start recovers from the log; a shutdown (SIGINT) that meets a server which is just recovering can last for ever.
 */
export const TIED = ["setpriv", "--pdeathsig", "QUIT"];
const NAMESPACE = ["unshare", "--user"];
/** The secure bit lets access(2) see the capability too, with which PostgreSQL looks for its own programs. */
const PASS_CLOSED_FOLDERS =
  "--securebits +no_setuid_fixup --inh-caps +dac_override --ambient-caps +dac_override".split(" ");

/** The caller's PGDATA, PGPORT, LD_LIBRARY_PATH, TZ … must not reach the server. */
const ENVIRONMENT = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

/** Options for every process started here; "/" because the current folder may be closed to the server's user. */
export const SURROUNDINGS = { env: ENVIRONMENT, cwd: "/" };

const run = promisify(execFile);

/** File and arguments that start `program` in the way of `launch`. */
export function commandLine(launch: Launch, program: string, ...args: string[]): [string, string[]] {
  const [file = program, ...rest] = [...launch.prefix, program, ...args];
  return [file, rest];
}

/** Runs a program to its end. Throws what it wrote on standard error. */
export async function runToEnd(launch: Launch, program: string, ...args: string[]): Promise<void> {
  const [file, words] = commandLine(launch, program, ...args);
  await run(file, words, SURROUNDINGS).catch((cause: Error & { stderr?: string }) => {
    throw new Error((cause.stderr || cause.message).trim(), { cause });
  });
}

/** The first way that works for a folder with this owner. Throws one sentence when there is none. */
export async function chooseLaunch(
  folder: string,
  owner: { readonly uid: number; readonly gid: number },
  postgres: string,
): Promise<Launch> {
  let refusal = "";
  if (owner.uid === OWN_USER) {
    const own = await launchAsOwnUser(folder, postgres);
    if (own !== null) return own;
  }
  for (const launch of ways(owner)) {
    try {
      await runToEnd(launch, ...trial(folder, postgres));
      return launch;
    } catch (error) {
      refusal = (error as Error).message;
    }
  }
  const ourselves = { prefix: [], who: "the user of the service", ...owner };
  await runToEnd(ourselves, postgres, "--version").catch((cause: Error) => {
    throw new Error(
      `The PostgreSQL that comes with Posthaste does not run on this system, it needs glibc or macOS (${cause.message}): set DATABASE_URL to a PostgreSQL 16 or newer.`,
      { cause },
    );
  });
  throw new Error(
    `PostgreSQL does not run as root, and neither "unshare" nor "setpriv" could start it as somebody else (${refusal}): run Posthaste as an ordinary user, or set DATABASE_URL to a PostgreSQL 16 or newer.`,
  );
}

/** The way for new data of root. Null where PostgreSQL would have to be able to pass what is closed to others. */
export async function launchAsOwnUser(folder: string, postgres: string): Promise<Launch | null> {
  if (process.geteuid?.() !== 0 || process.platform !== "linux") return null;
  const user = { uid: OWN_USER, gid: OWN_USER };
  const launch = {
    prefix: asUser(user),
    // In such a namespace every user has the name of `nobody`.
    initPrefix: [...asUser(user), ...NAMESPACE],
    who: `a user of its own (uid ${OWN_USER})`,
    ...user,
  };
  try {
    await runToEnd(launch, ...trial(folder, postgres));
    await runToEnd({ ...launch, prefix: launch.initPrefix }, "id", "-un");
    return launch;
  } catch {
    return null;
  }
}

/** A command that does nothing, and succeeds where PostgreSQL can be run on the folder. */
function trial(folder: string, postgres: string): [string, ...string[]] {
  return ["sh", "-c", 'test -d "$1" && exec "$2" --version', "sh", folder, postgres];
}

function asUser({ uid, gid }: { readonly uid: number; readonly gid: number }): string[] {
  return [...TIED, "--reuid", `${uid}`, "--regid", `${gid}`, "--clear-groups"];
}

function ways(owner: { readonly uid: number; readonly gid: number }): Launch[] {
  if (process.geteuid?.() !== 0) {
    return [TIED, []].map((prefix) => ({ prefix, who: "the user of the service", ...owner }));
  }
  const user = owner.uid === 0 ? { uid: NOBODY, gid: NOBODY } : owner;
  const who = `another user (uid ${user.uid})`;
  const switched = [
    { prefix: asUser(user), who, ...user },
    { prefix: [...asUser(user), ...PASS_CLOSED_FOLDERS], who: `${who} who passes closed folders`, ...user },
  ];
  if (owner.uid !== 0) return switched;
  const asRoot = { who: "root, in a user namespace of its own", ...owner };
  return [...[[...NAMESPACE, ...TIED], NAMESPACE].map((prefix) => ({ prefix, ...asRoot })), ...switched];
}
