/** Numbers as people read them. */
const number = new Intl.NumberFormat("en");

/** 1,234,567 */
export function countText(count: number): string {
  return number.format(count);
}

/** `1 message`, `1,200 messages` */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${number.format(count)} ${count === 1 ? singular : plural}`;
}

/** A rate always names its base: `2.1 % of 12,044`. */
export function rateText(count: number, of: number): string {
  if (of === 0) return "of 0";
  return `${((count / of) * 100).toFixed(1)} % of ${number.format(of)}`;
}
