/** Money for display: exact, with two to six decimal places. */
export function formatMoney(amount: string): string {
  const [whole = "0", decimals = ""] = amount.split(".");
  return `${whole}.${decimals.replace(/0+$/, "").padEnd(2, "0")}`;
}
