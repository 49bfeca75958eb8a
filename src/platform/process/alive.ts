/** Tells whether a process of this machine is alive. */
import { readFileSync } from "node:fs";

/** False if there is no process with this id, or only a zombie. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Orphans of a killed program stay zombies until process 1 reaps them, which in some containers never happens. */
function isZombie(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The state follows the name of the program, which is in brackets and may contain brackets.
    return status.startsWith(") Z", status.lastIndexOf(")"));
  } catch {
    return false; // not on Linux
  }
}
