/** How long this thread has worked, in milliseconds: what else the machine does meanwhile does not count. */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
