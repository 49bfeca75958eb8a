export function SuppressionListPage() {
  return null;
}
