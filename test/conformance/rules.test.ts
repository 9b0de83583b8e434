// Rules of a tenant, and what follows from them, on one service.

import './rules/evaluation.ts';
import './rules/gated-listings.ts';
import './rules/joins.ts';
import './rules/openfga-models.ts';
import './rules/own-relations.ts';
import './rules/rule-sets.ts';
import './rules/sets.ts';
import './rules/states.ts';
import './rules/text-form.ts';
import './rules/types.ts';
import './rules/versions.ts';
