package sqlfilter

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// message is the properties of a message, written as name=value with semicolons between.
func message(s string) map[string]string {
	m := map[string]string{}
	for entry := range strings.SplitSeq(s, ";") {
		if name, value, ok := strings.Cut(entry, "="); ok {
			m[name] = value
		}
	}
	return m
}

func (f *Filter) on(m map[string]string) Result {
	return f.Eval(func(name string) (string, bool) { v, ok := m[name]; return v, ok })
}

func mustParse(t testing.TB, condition string) *Filter {
	t.Helper()
	f, err := Parse(condition)
	if err != nil {
		t.Fatalf("%q: %v", condition, err)
	}
	return f
}

func TestTruthTables(t *testing.T) {
	// T, F, U: true, false, unknown; A aborts. Two operands and the result.
	const m = "x=1"
	words := map[string]string{"T": "x = 1", "F": "x = 2", "U": "gone = 1", "A": "TRUE = x"}
	result := map[byte]Result{'T': True, 'F': False, 'U': Unknown, 'A': Unknown}
	for _, test := range []struct{ op, table string }{
		{"AND", "TTT TFF TUU TAA FTF FFF FUF FAF UTU UFF UUU UAA ATA AFA AUA AAA"},
		{"OR", "TTT TFT TUT TAT FTT FFF FUU FAA UTT UFU UUU UAA ATA AFA AUA AAA"},
	} {
		for row := range strings.FieldsSeq(test.table) {
			c := fmt.Sprintf("(%s) %s (%s)", words[row[:1]], test.op, words[row[1:2]])
			if got := mustParse(t, c).on(message(m)); got != result[row[2]] {
				t.Errorf("%s: %v, want %v", c, got, result[row[2]])
			}
			// What aborts stays so below NOT and beside anything; what is unknown does not.
			c = fmt.Sprintf("NOT (%s) OR TRUE", c)
			want := True
			if row[2] == 'A' {
				want = Unknown
			}
			if got := mustParse(t, c).on(message(m)); got != want {
				t.Errorf("%s: %v, want %v", c, got, want)
			}
		}
	}
	for word, want := range map[string]Result{"T": False, "F": True, "U": Unknown, "A": Unknown} {
		if got := mustParse(t, "NOT ("+words[word]+")").on(message(m)); got != want {
			t.Errorf("NOT %s: %v, want %v", word, got, want)
		}
	}
}

func TestConditions(t *testing.T) {
	const m = "a=5;b=7;s=abc;d=5.5;big=3000000000;yes=TRUE;no=No;blank= 5 ;neg=-5;arabic=٣;inf=Infinity;nan=NaN;hex=0x1p3;suffix=5d;TAGS=TagA;quote=it's;$_1=x"
	for condition, want := range map[string]Result{
		// Numbers.
		"a = 5": True, "a <> 5": False, "a > 4": True, "a > 5": False, "a >= 5": True, "a < 5": False, "a <= 5": True, "5 = a": True, "4 < a": True,
		"a = 5.0": True, "a = 5L": True, "a = 5e0": True, "a = 05": False, "a = .5e1": True, "a = 5.": True, "a = +5": True, "neg = -5": True,
		"neg < -4": True, "a = - -5": True, "a > -3000000000": True, "a < 9223372036854775807": True, "1 = 1.0": True, "3000000000 > 5": True,
		"3000000000.5 > 3000000000": True, "2 = '2'": True, "'2.0' = 2": Unknown, "arabic = 3": True, "arabic = 3.0": Unknown, "- - - neg = 5": Unknown,
		// What is no number of the literal's kind aborts.
		"d = 5": Unknown, "d <> 5": Unknown, "d > 5": Unknown, "d > 5.0": True, "big > 5": Unknown, "big > 5.0": True, "big > 2999999999": True,
		"s > 1": Unknown, "s = 1": Unknown, "blank = 5": Unknown, "blank = 5.0": True, "hex = 8.0": True, "hex = 8": Unknown, "suffix = 5.0": True,
		"inf > 1e308": True, "nan > inf": True, "nan = 1.0": False, "inf = 1e308": False,
		"s > 1 OR TRUE": Unknown, "TRUE OR s > 1": True, "FALSE AND s > 1": False, "s > 1 AND FALSE": Unknown,
		// Texts.
		"s = 'abc'": True, "s = 'ABC'": False, "s <> 'abc'": False, "s <> 'x'": True, "quote = 'it''s'": True, "a = '5'": True, "a = '5.0'": False,
		"a = blank": False, "a < b": True, "a < blank": False, "a <= blank": True, "a < s": Unknown, "s < s": Unknown, "TAGS = 'TagA'": True, "$_1 = 'x'": True,
		// Truth values.
		"yes = TRUE": True, "no = TRUE": False, "no = FALSE": True, "s = FALSE": True, "yes <> FALSE": True, "TRUE": True, "FALSE": False, "NULL": Unknown,
		"TRUE = yes": Unknown, "TRUE = gone": False, "gone = TRUE": Unknown, "TRUE <> FALSE": True, "'true' = TRUE": True, "5 = TRUE": False, "5 <> TRUE": True,
		"yes": False, "gone": Unknown, "NOT yes": True, "NOT gone": Unknown, "(a = 5) = TRUE": True, "a = 5 = TRUE": True, "(a = 5) = (b = 7)": True,
		"TRUE = (a = 5)": True, "(a = 5) = yes": Unknown, "yes = (a = 5)": True, "(a = 5) = 5": False, "(a = 5) <> 5": True,
		// Missing properties.
		"gone = 5": Unknown, "gone <> 5": Unknown, "gone > 5": Unknown, "gone = a": Unknown, "a = gone": False, "a <> gone": True, "gone = away": True,
		"gone <> away": False, "gone IS NULL": True, "gone IS NOT NULL": False, "a IS NULL": False, "a IS NOT NULL": True, "NULL IS NULL": True,
		"(gone = 5) IS NULL": True, "a = 5 IS NULL": False, "5 IS NOT NULL": True, "-gone IS NULL": True, "-a IS NULL": True, "-a = 5": Unknown,
		// BETWEEN.
		"a BETWEEN 1 AND 5": True, "a BETWEEN 5 AND 5": True, "a BETWEEN 6 AND 7": False, "a NOT BETWEEN 6 AND 7": True, "a NOT BETWEEN 1 AND 5": False,
		"a NOT BETWEEN 7 AND 1": True, "a BETWEEN 5 AND -1": False, "gone BETWEEN 1 AND 2": Unknown, "gone NOT BETWEEN 1 AND 2": Unknown,
		"a BETWEEN neg AND b": True, "5 BETWEEN a AND b": True, "a BETWEEN 6 AND s": False, "a BETWEEN 5 AND s": Unknown, "d BETWEEN 5.0 AND 6.0": True,
		"a BETWEEN 1 AND 5 AND b BETWEEN 1 AND 5": False, "a BETWEEN 4.5 AND 5": True, "a BETWEEN gone AND 5": Unknown, "a BETWEEN gone AND 4": False,
		// IN.
		"s IN ('abc')": True, "s IN ('x', 'abc')": True, "s IN ('ab')": False, "s NOT IN ('ab')": True, "s NOT IN ('abc')": False, "gone IN ('a')": Unknown,
		"gone NOT IN ('a')": Unknown, "a IN ('5')": True, "a IN ('5.0')": False, "(s) IN ('abc')": True, "s IN ('1','2','3','4','5','6','7','8','9','abc')": True,
		"s NOT IN ('1','2','3','4','5','6','7','8','9','')": True,
		// Parts of texts.
		"s CONTAINS 'b'": True, "s CONTAINS 'x'": False, "s NOT CONTAINS 'x'": True, "s NOT CONTAINS 'b'": False, "s CONTAINS ''": False, "s NOT CONTAINS ''": False,
		"s STARTSWITH 'ab'": True, "s STARTSWITH 'b'": False, "s NOT STARTSWITH 'b'": True, "s ENDSWITH 'bc'": True, "s ENDSWITH 'b'": False, "s NOT ENDSWITH 'b'": True,
		"gone CONTAINS 'x'": False, "gone NOT CONTAINS 'x'": False, "NOT (gone CONTAINS 'x')": True, "5 CONTAINS '5'": False, "'abc' CONTAINS 'b'": True,
		"NOT s CONTAINS 'x'": False, "(TRUE = s) CONTAINS 'x'": Unknown, "(TRUE = s) CONTAINS ''": False, "s CONTAINS 'b' CONTAINS 'r'": False,
		// NOT binds to the next value, and nothing stronger continues what something weaker has continued.
		"NOT a = 1": False, "NOT a IS NULL": False, "NOT gone IS NULL": True, "NOT (a = 1)": True, "NOT NOT a": False, "a = 5 OR a = 6 AND a = 7": True,
		"(a = 5 OR a = 6) AND a = 7": False, "a = 5 AND NOT a = 1 OR b > 6": True, "a = b > 6": False, "yes = b > 6": True, "a IS NOT NULL > 5": True,
		// Words in any case, blanks and comments anywhere.
		"a between 1 And 5": True, "s nOt In ('x')": True, "Gone is Null": True, "A = 5": Unknown, "/* first */a/**/=/***/5 -- last": True,
		"a = -- five\n5": True, "a = -- five\r5": True, "neg = --5": False, "a = --5": True, "a\t=\f5\r\n": True, "a=5and b=7": True, "notes IS NULL": True,
		// What follows a condition is not looked at.
		"a = 5 a = 6": True, "s LIKE 'abc'": False, "a = 007": False, "a + 1 = 6": False, "a = 5)": True, "a = 5 'it''s": True,
	} {
		if got := mustParse(t, condition).on(message(m)); got != want {
			t.Errorf("%s: %v, want %v", condition, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for condition, want := range map[string]string{
		"":                         "column 1: expected a property, a text in single quotes, a number, TRUE, FALSE, NOT or (, found the end",
		"a = ":                     "column 5: expected a property, a text in single quotes, a number, TRUE, FALSE, NOT or (, found the end",
		"a == 1":                   `column 4: expected a property, a text in single quotes, a number, TRUE, FALSE, NOT or (, found "="`,
		"a != 1":                   "column 3: != is not in the language; write <>",
		"a = \"x\"":                "column 5: double quotes are not in the language; texts stand in single quotes",
		"a = 1 && b = 2":           "column 7: && is not in the language; write AND or OR",
		"ä = 1":                    "column 1: the character 'ä' is not in the language",
		"a = 'ä' AND ü = 1":        "column 13: the character 'ü' is not in the language",
		"a = 1\n AND b = \x1b[1m":  "line 2, column 10: the character '\\x1b' is not in the language",
		"a.b = 1":                  "column 2: the character '.' is not in the language",
		"a = 'x":                   "column 5: the text in single quotes does not end",
		"a = 'it''s":               "column 9: the text in single quotes does not end",
		"a = 1 /* x":               "column 7: the comment does not end",
		"a = 1 @":                  "column 7: the character '@' is not in the language",
		"(a = 1":                   "column 7: expected ), found the end",
		"5":                        "column 1: expected a condition, found a number alone",
		"'x' AND TRUE":             "column 1: expected a condition, found a text alone",
		"TRUE OR -a":               "column 9: expected a condition, found a number alone",
		"NOT 5 = 5":                "column 5: expected a condition, found a number alone",
		"a = NULL":                 "column 5: nothing is compared with NULL; write IS NULL or IS NOT NULL",
		"a <> NULL":                "column 6: nothing is compared with NULL; write IS NULL or IS NOT NULL",
		"NULL = a":                 "column 1: nothing is compared with NULL; write IS NULL",
		"TRUE = 1":                 "column 8: TRUE is not compared with a number",
		"a > 'x'":                  "column 5: > compares numbers, and a text is none",
		"TRUE >= a":                "column 1: >= compares numbers, and TRUE is none",
		"a < NULL":                 "column 5: < compares numbers, and NULL is none",
		"a > 1 > 0":                "column 1: > compares numbers, and a condition is none",
		"NOT a > 5":                "column 1: NOT belongs to what directly follows it; write NOT (… > …)",
		"NOT a BETWEEN 1 AND 2":    "column 1: NOT belongs to what directly follows it; write NOT (… BETWEEN …)",
		"a BETWEEN 5 AND 1":        "column 17: the second number after BETWEEN must not be below the first",
		"a BETWEEN 5.5 AND 5":      "column 19: the second number after BETWEEN must not be below the first",
		"a BETWEEN 'a' AND 'b'":    "column 11: BETWEEN compares numbers, and a text is none",
		"a BETWEEN 1 OR 2":         `column 13: expected AND, found "OR"`,
		"a IS 5":                   `column 6: expected NULL, found "5"`,
		"a IS NOT 5":               `column 10: expected NULL, found "5"`,
		"a NOT 5":                  `column 7: expected BETWEEN, IN, CONTAINS, STARTSWITH or ENDSWITH after NOT, found "5"`,
		"a NOT":                    "column 6: expected BETWEEN, IN, CONTAINS, STARTSWITH or ENDSWITH after NOT, found the end",
		"a IN (1)":                 `column 7: expected a text in single quotes, found "1"`,
		"a IN ()":                  `column 7: expected a text in single quotes, found ")"`,
		"a IN 'x'":                 `column 6: expected (, found "'x'"`,
		"a IN ('x' 'y')":           `column 11: expected ), found "'y'"`,
		"5 IN ('5')":               "column 1: IN looks at a property, not at a number",
		"NOT a IN ('5')":           "column 1: IN looks at a property, not at a condition",
		"a CONTAINS b":             `column 12: expected a text in single quotes, found "b"`,
		"a = 9223372036854775808":  "column 5: 9223372036854775808 does not fit into 64 bits",
		"a > 0.0":                  "column 5: brokers refuse 0.0: a number with a point is at least 5e-324; write 0",
		"a > 1e-400":               "column 5: brokers refuse 1e-400: a number with a point is at least 5e-324; write 0",
		"a < 1e309":                "column 5: 1e309 is too large for a number, the largest is 1.7976931348623157e+308",
		"a < -9223372036854775808": "column 6: 9223372036854775808 does not fit into 64 bits",
	} {
		f, err := Parse(condition)
		var e *SyntaxError
		if !errors.As(err, &e) || f != nil {
			t.Errorf("%q: %v, %v, want a syntax error", condition, f, err)
			continue
		}
		if err.Error() != want {
			t.Errorf("%q:\n got %s\nwant %s", condition, err, want)
		}
		if before := condition[:e.Offset]; e.Line != 1+strings.Count(before, "\n") || e.Offset > len(condition) {
			t.Errorf("%q: offset %d is not in line %d", condition, e.Offset, e.Line)
		}
	}
}

func TestLimits(t *testing.T) {
	deep := func(n int, left, middle, right string) string {
		return strings.Repeat(left, n) + middle + strings.Repeat(right, n)
	}
	for name, test := range map[string]struct {
		condition, want string
	}{
		"deep enough":      {deep(maxDepth-1, "(", "TRUE", ")"), ""},
		"too deep":         {deep(maxDepth, "(", "TRUE", ")"), "column 501: nested more than 500 levels deep"},
		"too many NOTs":    {deep(maxDepth, "NOT ", "TRUE", ""), "column 2001: nested more than 500 levels deep"},
		"too many signs":   {deep(maxDepth, "-", "a", "") + " IS NULL", "column 501: nested more than 500 levels deep"},
		"side by side":     {"a" + strings.Repeat(" or(a)", 10_000), ""},
		"long chain":       {"a" + strings.Repeat("=a", MaxLength/2-1), ""},
		"as long as can":   {"a" + strings.Repeat(" ", MaxLength-1), ""},
		"longer":           {"a" + strings.Repeat(" ", MaxLength), "column 65537: the condition has 65537 bytes, at most 65536 are read"},
		"comment openings": {"a " + strings.Repeat("/* ", 20_000), "column 3: the comment does not end"},
		"line comments":    {strings.Repeat("--", 30_000), "column 501: nested more than 500 levels deep"},
		"quotes":           {"a IN (" + strings.Repeat("'", 60_001), "column 60007: the text in single quotes does not end"},
	} {
		f, err := Parse(test.condition)
		switch {
		case test.want == "" && err != nil, test.want != "" && (err == nil || err.Error() != test.want):
			t.Errorf("%s: %v, want %q", name, err, test.want)
		case err == nil:
			if got, err := Parse(f.String()); err == nil && got.String() != f.String() {
				t.Errorf("%s: does not read as what it was printed from", name)
			}
			f.on(message("a=1"))
		}
	}
}

func TestDialect(t *testing.T) {
	const condition = "s CONTAINS 'b'"
	old, err := WithoutTextOperators.Parse(condition)
	if err != nil {
		t.Fatal(err)
	}
	m := message("s=abc")
	if got := mustParse(t, condition).on(m); got != True {
		t.Errorf("latest: %v", got)
	}
	if got := old.on(m); got != False || old.Ignored() != "CONTAINS 'b'" {
		t.Errorf("before 5.1.3: %v, ignores %q", got, old.Ignored())
	}
	if f, err := WithoutTextOperators.Parse("contains = 1"); err != nil || f.on(message("contains=1")) != True {
		t.Errorf("a property of that name: %v, %v", f, err)
	}
	if _, err := Parse("contains = 1"); err == nil {
		t.Error("the latest dialect has a property of that name")
	}
}

func TestAbout(t *testing.T) {
	for condition, want := range map[string]struct {
		text, ignored string
		names         []string
	}{
		"a=1 and(b<>2.50 oR not c)": {"a = 1 AND (b <> 2.5 OR NOT c)", "", []string{"a", "b", "c"}},
		"((a)) = + - - (-5)":        {"a = - - -5", "", []string{"a"}},
		"(a=b)=(c=(d=1e100))":       {"a = b = (c = (d = 1e+100))", "", []string{"a", "b", "c", "d"}},
		"(a and b) and (c and a)":   {"a AND b AND (c AND a)", "", []string{"a", "b", "c"}},
		"NOT (a CONTAINS 'it''s')":  {"NOT (a CONTAINS 'it''s')", "", []string{"a"}},
		"(a=1)NOT endswith'x'":      {"(a = 1) NOT ENDSWITH 'x'", "", []string{"a"}},
		"a not in('x','','y')":      {"a NOT IN ('x', '', 'y')", "", []string{"a"}},
		"a not between(1)and 1e3":   {"a NOT BETWEEN 1 AND 1000.0", "", []string{"a"}},
		"- (a = TRUE) is not null":  {"-(a = TRUE) IS NOT NULL", "", []string{"a"}},
		"5L = 3000000000l":          {"5 = 3000000000", "", nil},
		"null or False":             {"NULL OR FALSE", "", nil},
		"a = 1 b = 2 \n":            {"a = 1", "b = 2", []string{"a"}},
		"a IS NULL > 5":             {"a IS NULL", "> 5", []string{"a"}},
		"a = 1 -- x":                {"a = 1", "-- x", []string{"a"}},
		"a = 1 -- x\n":              {"a = 1", "", []string{"a"}},
	} {
		f := mustParse(t, condition)
		if f.String() != want.text || f.Ignored() != want.ignored {
			t.Errorf("%s:\n got %s, ignores %q\nwant %s, ignores %q", condition, f, f.Ignored(), want.text, want.ignored)
		}
		if diff := cmp.Diff(want.names, f.Names()); diff != "" {
			t.Errorf("%s: names (-want +got):\n%s", condition, diff)
		}
	}
	for r, want := range map[Result]string{Unknown: "unknown", False: "false", True: "true"} {
		if r.String() != want {
			t.Errorf("%d: %s", r, r)
		}
	}
}
