/**
 * Ends a process together with its parent: the service with the launcher (bin/posthaste.js), the delivery process with
 * the service. The parent opens an IPC channel (`fork`, or "ipc" in `stdio`), which the kernel closes when the parent
 * ends, even by SIGKILL.
 *
 * processes/serve.ts and processes/delivery.ts call this as soon as their SIGTERM handlers are installed.
 */

/** Sends SIGTERM to this process when the parent has ended. Does nothing without an IPC channel. */
export function endWithParent(): void {
  const end = () => process.kill(process.pid, "SIGTERM");
  if (process.connected) process.once("disconnect", end);
  else if (process.connected === false) end(); // the parent ended while this process was starting
  process.channel?.unref(); // the IPC channel must not keep the process alive
}
