/** CPU time of this thread in milliseconds; independent of other load on the machine. */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
