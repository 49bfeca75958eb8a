export function SuppressionPage() {
  return null;
}
