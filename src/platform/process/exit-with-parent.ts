/**
 * A process that must not outlive the one that started it: the service under the launcher (bin/posthaste.js), the
 * delivery process under the service. The parent opens an IPC channel (`fork`, or "ipc" in `stdio`); the kernel closes
 * it when the parent is gone, even by SIGKILL.
 *
 * processes/serve.ts and processes/delivery.ts call this as soon as their handlers for SIGTERM are in place.
 */

/** Sends ourselves SIGTERM when the parent is gone, so that there is one way to stop. No-op without a channel. */
export function endWithParent(): void {
  const end = () => process.kill(process.pid, "SIGTERM");
  if (process.connected) process.once("disconnect", end);
  else if (process.connected === false) end(); // it went while we were loading
  process.channel?.unref(); // waiting for the parent's end keeps nobody running
}
