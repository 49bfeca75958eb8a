/** Whether a process lives. */
import { readFileSync } from "node:fs";

/** False when no process of this machine has this number, or one that has ended and is only not yet collected. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The orphans of a killed program stay zombies until the first process gets round to them, in some containers never. */
function isZombie(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The state stands behind the program's name, which is in brackets and may hold brackets.
    return status.startsWith(") Z", status.lastIndexOf(")"));
  } catch {
    return false; // no Linux
  }
}
