// Part of the search: pages to learn from come before single names and results that mention the same word.
// The other numbers are those of Sphinx.
var Scorer = {
  score: ([page, , anchor, , score]) => (/^(start|guide)\//.test(page) && !anchor ? 3 * score : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
