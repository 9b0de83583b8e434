// Asks a table of a real Postgres with filters of this client: for each question of its standard input, a line of JSON,
// it writes a line with the ids of the rows that pass. It is a module of its own, since it needs a driver.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"os"
	"time"

	grantd "github.com/grantd/grantd/clients/go"
	"github.com/lib/pq"
)

type question struct {
	Table, Subject, Name string
	Options              struct {
		ID, IDType    string
		Deep          []string
		ContextGrants []grantd.ContextGrant
		Candidates    bool
		Schema        string
		ObjectsMax    int
		WaitMs        int
	}
}

type answer struct {
	IDs  []string `json:"ids,omitzero"`
	Form string   `json:"form,omitempty"`
	// Why there is no filter: the reason of the mirror, the SQLSTATE of another error of the database, or the type of one
	// of the client.
	Mirror   string `json:"mirror,omitempty"`
	SQLState string `json:"sqlstate,omitempty"`
	Error    string `json:"error,omitempty"`
}

func main() {
	client, err := grantd.New(grantd.Config{})
	if err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("postgres", os.Getenv("FILTER_DATABASE"))
	if err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		if err := json.NewEncoder(os.Stdout).Encode(answerTo(asked, client, db)); err != nil {
			log.Fatal(err)
		}
	}
}

func answerTo(asked question, client *grantd.Client, db *sql.DB) answer {
	given := asked.Options
	wait := time.Duration(given.WaitMs) * time.Millisecond
	if wait == 0 {
		wait = -1
	}
	filter, err := client.Filter(context.Background(), db, asked.Subject, asked.Name, grantd.FilterOptions{
		ID: given.ID, IDType: given.IDType, Deep: given.Deep, Candidates: given.Candidates, Schema: given.Schema,
		CallContext: grantd.CallContext{ContextGrants: given.ContextGrants},
		ObjectsMax:  given.ObjectsMax, Wait: wait, FirstParameter: 2,
	})
	var ids []string
	if err == nil {
		ids, err = idsOf(db, "SELECT d.id::text FROM "+asked.Table+" d WHERE d.archived = $1 AND "+filter.SQL, filter.Args)
	}
	if err == nil {
		return answer{IDs: ids, Form: filter.Form}
	}
	var found answer
	var mirror *grantd.MirrorError
	var failed *pq.Error
	switch {
	case errors.As(err, &mirror):
		found.Mirror = mirror.Reason
	case errors.As(err, &failed):
		found.SQLState = failed.SQLState()
	default:
		found.Error = grantd.ErrorType(err)
	}
	return found
}

func idsOf(db *sql.DB, query string, args []any) ([]string, error) {
	rows, err := db.Query(query, append([]any{false}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	ids := []string{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
