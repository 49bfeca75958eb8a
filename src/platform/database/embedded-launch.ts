/**
 * As whom the embedded PostgreSQL runs. It refuses to be root, and it has to reach its programs and its data, which
 * may lie where only root can look. Every way is a few words in front of the command, tried in order of preference:
 *
 * 1. an ordinary user: as that user;
 * 2. root: in a user namespace of its own, where PostgreSQL does not see that it is root, and files stay root's;
 * 3. root where such namespaces are forbidden (many containers): as `nobody`, who then owns the data;
 * 4. the same, with the one capability to pass folders that are closed to others, such as root's home.
 *
 * Data that already belongs to another user is served as that user.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface Launch {
  /** Words before the program's own command line. */
  readonly prefix: readonly string[];
  /** Whose the data must be, as seen from here. */
  readonly uid: number;
  readonly gid: number;
}

const NOBODY = 65_534;

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
  for (const launch of ways(owner)) {
    try {
      await runToEnd(launch, "sh", "-c", 'test -d "$1" && exec "$2" --version', "sh", folder, postgres);
      return launch;
    } catch (error) {
      refusal = (error as Error).message;
    }
  }
  const ourselves = { prefix: [], ...owner };
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

function ways(owner: { readonly uid: number; readonly gid: number }): Launch[] {
  if (process.geteuid?.() !== 0) return [TIED, []].map((prefix) => ({ prefix, ...owner }));
  const user = owner.uid === 0 ? { uid: NOBODY, gid: NOBODY } : owner;
  const asUser = [...TIED, "--reuid", `${user.uid}`, "--regid", `${user.gid}`, "--clear-groups"];
  const switched = [asUser, [...asUser, ...PASS_CLOSED_FOLDERS]].map((prefix) => ({ prefix, ...user }));
  if (owner.uid !== 0) return switched;
  return [...[[...NAMESPACE, ...TIED], NAMESPACE].map((prefix) => ({ prefix, ...owner })), ...switched];
}
