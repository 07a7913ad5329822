/**
 * The form in which titles are stored for search and searched for. Two texts that differ only in case, in how their
 * characters are composed or in their width have the same form (docs/decisions/0013):
 *
 * NFKC; lower case by way of upper case, so that ẞ and ß meet SS, and ı meets I; every sigma the same; and an i without
 * the dot above that lower-casing İ leaves behind. A part of a title stays a part of its form, so that a search is a plain substring.
 */
export function foldTitle(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i')
    .normalize('NFKC');
}
