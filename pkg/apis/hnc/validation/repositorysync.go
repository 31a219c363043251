package validation

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// minInterval keeps a RepositorySync from reading its source without pause.
const minInterval = time.Second

// ValidateRepositorySync validates a RepositorySync. Its name is the value of a label.
func ValidateRepositorySync(s *hnc.RepositorySync) field.ErrorList {
	var errs field.ErrorList
	for _, problem := range validation.IsDNS1123Label(s.Name) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), s.Name, problem))
	}
	spec := field.NewPath("spec")
	errs = append(errs, validateSource(spec.Child("source"), &s.Spec.Source)...)
	account := spec.Child("serviceAccount")
	for _, f := range []struct{ name, value string }{{"namespace", s.Spec.ServiceAccount.Namespace}, {"name", s.Spec.ServiceAccount.Name}} {
		if f.value == "" {
			errs = append(errs, field.Required(account.Child(f.name), "set it to the account that the repository is applied as"))
			continue
		}
		problems := apimachineryvalidation.ValidateServiceAccountName(f.value, false)
		if f.name == "namespace" {
			problems = apimachineryvalidation.ValidateNamespaceName(f.value, false)
		}
		for _, problem := range problems {
			errs = append(errs, field.Invalid(account.Child(f.name), f.value, problem))
		}
	}
	if i := s.Spec.Interval; i != nil && i.Duration < minInterval {
		errs = append(errs, field.Invalid(spec.Child("interval"), field.OmitValueType{}, fmt.Sprintf("must be a duration such as 15s, of at least %s", minInterval)))
	}
	if len(s.Spec.Cluster) > validation.DNS1123SubdomainMaxLength {
		errs = append(errs, field.TooLong(spec.Child("cluster"), "", validation.DNS1123SubdomainMaxLength))
	}
	return Bound(errs)
}

// maxURL and maxReference bound what errors and conditions repeat.
const maxURL, maxReference = 2048, 255

var (
	commitPattern = regexp.MustCompile(`^[0-9a-f]{40}$`)
	// referencePattern is stricter than Git: names that need quoting anywhere are rejected.
	referencePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+@=-]*(/[A-Za-z0-9_][A-Za-z0-9_.+@=-]*)*$`)
)

func validateSource(at *field.Path, s *hnc.RepositorySource) field.ErrorList {
	errs := validateURL(at.Child("url"), s.URL)
	set := 0
	for _, f := range []struct{ name, value string }{{"branch", s.Branch}, {"tag", s.Tag}} {
		if f.value == "" {
			continue
		}
		set++
		if len(f.value) > maxReference || !referencePattern.MatchString(f.value) || strings.Contains(f.value, "..") || strings.HasSuffix(f.value, ".lock") {
			errs = append(errs, field.Invalid(at.Child(f.name), f.value, "must be the name of a "+f.name+", without refs/"))
		}
	}
	if s.Commit != "" {
		set++
		if !commitPattern.MatchString(s.Commit) {
			errs = append(errs, field.Invalid(at.Child("commit"), s.Commit, "must be a complete commit: 40 hexadecimal digits in lower case"))
		}
	}
	if set > 1 {
		errs = append(errs, field.Forbidden(at, "at most one of branch, tag and commit may be set; remove the others"))
	}
	if d := s.Directory; d != "" && (!fs.ValidPath(d) || path.Clean(d) != d || len(d) > maxURL) {
		errs = append(errs, field.Invalid(at.Child("directory"), d, "must be a path relative to the root of the Git repository, without . and .."))
	}
	if s.SecretName != "" {
		for _, problem := range apimachineryvalidation.NameIsDNSSubdomain(s.SecretName, false) {
			errs = append(errs, field.Invalid(at.Child("secretName"), s.SecretName, problem))
		}
	}
	return errs
}

func validateURL(at *field.Path, text string) field.ErrorList {
	if text == "" {
		return field.ErrorList{field.Required(at, "set it to the address of a Git repository")}
	}
	if len(text) > maxURL {
		return field.ErrorList{field.TooLong(at, "", maxURL)}
	}
	u, err := url.Parse(text)
	if err != nil {
		// The error would repeat a password.
		return field.ErrorList{field.Invalid(at, "", "is not a URL; use https://, ssh:// or file:///")}
	}
	if _, set := u.User.Password(); set {
		return field.ErrorList{field.Invalid(at, u.Redacted(), "must not contain a password; put it in a Secret and set secretName")}
	}
	var problem string
	switch {
	case u.RawQuery != "" || u.Fragment != "" || u.Opaque != "":
		problem = "must not have a query or a fragment"
	case u.Scheme == "file" && (u.Host != "" || !path.IsAbs(u.Path) || path.Clean(u.Path) != u.Path):
		problem = "must be file:// and an absolute path without . and .., such as file:///repositories/policy"
	case u.Scheme == "https" && u.User != nil:
		problem = "must not contain a user; put it in a Secret and set secretName"
	case (u.Scheme == "https" || u.Scheme == "ssh") && (u.Host == "" || strings.Trim(u.Path, "/") == ""):
		problem = "must have a host and a path"
	case u.Scheme != "https" && u.Scheme != "ssh" && u.Scheme != "file":
		problem = "must begin with https://, ssh:// or file:///"
	}
	if problem == "" {
		return nil
	}
	return field.ErrorList{field.Invalid(at, u.Redacted(), problem)}
}
