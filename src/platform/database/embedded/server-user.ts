/**
 * Chooses the user that the embedded PostgreSQL runs as. PostgreSQL refuses to run as root, but must reach its programs and
 * its data, which may be in folders of root. Each option is a prefix of the command line; they are tried in this order:
 *
 * 1. we are an ordinary user: as that user;
 * 2. we are root, the data is new: as a user of PostgreSQL's own (OWN_USER), if it can reach programs and data;
 * 3. we are root: in a user namespace, where PostgreSQL does not see that it is root, and files belong to root;
 * 4. we are root, and namespaces are forbidden (many containers): as `nobody`, which then owns the data;
 * 5. as 4, with the capability to pass through folders that are closed to others, such as root's home.
 *
 * For existing data the server runs as its owner: 3 to 5 for data of root, otherwise as the owner.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface Launch {
  /** Words before the command line of the program. */
  readonly prefix: readonly string[];
  /** Prefix for initdb, which needs a name for its user; default: `prefix`. */
  readonly initPrefix?: readonly string[];
  /** Description of the user, for the log. */
  readonly who: string;
  /** The required owner of the data, as seen outside the namespace. */
  readonly uid: number;
  readonly gid: number;
}

const NOBODY = 65_534;

/** From a range that neither distributions nor systemd assign (systemd: "UIDs and GIDs", 60578 to 61183). */
export const OWN_USER = 60_999;

/**
 * On Linux the kernel sends PostgreSQL this signal when our process ends, even by SIGKILL. SIGQUIT ends it at once, and the
 * next start recovers from the WAL; a shutdown by SIGINT may never end while the server is recovering.
 */
export const TIED = ["setpriv", "--pdeathsig", "QUIT"];
const NAMESPACE = ["unshare", "--user"];
/** The secure bit makes access(2), with which PostgreSQL looks for its programs, respect the capability. */
const PASS_CLOSED_FOLDERS =
  "--securebits +no_setuid_fixup --inh-caps +dac_override --ambient-caps +dac_override".split(" ");

/** The caller's PGDATA, PGPORT, LD_LIBRARY_PATH, TZ … must not reach the server. */
const ENVIRONMENT = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

/** Options for every process started here; "/" because the server's user may not access the current folder. */
export const SURROUNDINGS = { env: ENVIRONMENT, cwd: "/" };

const run = promisify(execFile);

/** File and arguments that start `program` with the prefix of `launch`. */
export function commandLine(launch: Launch, program: string, ...args: string[]): [string, string[]] {
  const [file = program, ...rest] = [...launch.prefix, program, ...args];
  return [file, rest];
}

/** Runs a program until it ends. @throws Error with its standard error output if it fails */
export async function runToEnd(launch: Launch, program: string, ...args: string[]): Promise<void> {
  const [file, words] = commandLine(launch, program, ...args);
  await run(file, words, SURROUNDINGS).catch((cause: Error & { stderr?: string }) => {
    throw new Error((cause.stderr || cause.message).trim(), { cause });
  });
}

/** The first option that works for a folder with this owner. @throws Error, one sentence, if none does */
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
  for (const launch of options(owner)) {
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
    `PostgreSQL does not run as root, and neither "unshare" nor "setpriv" could start it as another user (${refusal}): run Posthaste as an ordinary user, or set DATABASE_URL to a PostgreSQL 16 or newer.`,
  );
}

/** Option 2 of the list above; null if the user cannot reach the programs or the data. */
export async function launchAsOwnUser(folder: string, postgres: string): Promise<Launch | null> {
  if (process.geteuid?.() !== 0 || process.platform !== "linux") return null;
  const user = { uid: OWN_USER, gid: OWN_USER };
  const launch = {
    prefix: asUser(user),
    // In a user namespace every user has the name `nobody`, which is enough for initdb.
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

/** A command that succeeds if PostgreSQL can run with the folder, and changes nothing. */
function trial(folder: string, postgres: string): [string, ...string[]] {
  return ["sh", "-c", 'test -d "$1" && exec "$2" --version', "sh", folder, postgres];
}

function asUser({ uid, gid }: { readonly uid: number; readonly gid: number }): string[] {
  return [...TIED, "--reuid", `${uid}`, "--regid", `${gid}`, "--clear-groups"];
}

function options(owner: { readonly uid: number; readonly gid: number }): Launch[] {
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
